"""What an account of the search site may do."""

from enum import StrEnum


class Role(StrEnum):
    """What an account is for."""

    REPORTS = "reports"  # reads what is searched for, and how the sites and the index are
    REVIEWER = "reviewer"  # judges terms, publishes lexicons
    OPERATOR = "operator"  # everything
