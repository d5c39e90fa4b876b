"""The pages of administrators: reports, alerts and metrics."""
