"""Roles of search site accounts."""

from enum import StrEnum


class Role(StrEnum):
    """A permission that an account can have."""

    REPORTS = "reports"  # can view search statistics and the state of sites and index
    REVIEWER = "reviewer"  # can decide on terms and publish lexicons
    OPERATOR = "operator"  # administrator: all permissions
