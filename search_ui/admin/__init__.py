"""The pages of administrators: overview, runs, sites, settings, accounts, alerts, history and takedowns; metrics."""
