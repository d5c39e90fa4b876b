"""One benchmark a stage: `make bench-NAME [DATA=DIR]`. Never installed; tests may use what serves real pages here."""
