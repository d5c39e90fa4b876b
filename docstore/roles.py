"""Roles of search site accounts."""

from enum import StrEnum


class Role(StrEnum):
    """Permission of an account."""

    REPORTS = "reports"  # can view search statistics and the state of sites and index
    REVIEWER = "reviewer"  # can decide on terms and publish lexicons
    OPERATOR = "operator"  # administrator: all permissions
