"""`make bench-faults [DATA=DIR]`: the faults of tests/faults, set by class."""

from tests.faults.table import main

if __name__ == "__main__":
    main()
