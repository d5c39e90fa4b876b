"""A change that an account makes, declared once: its role, the fields of its form, its effect, and what undoes it.

The search site shows and checks the forms of operations, the command line calls the same operations, and
`docstore.operations` records each with the values before and after. An undo applies the inverse with the values before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from domain.account import Role
from domain.errors import PlumblineError
from domain.message import Message

Values = Mapping[str, Any]
"""JSON values by the names of fields."""

MAX_LIST_LENGTH = 500  # submitted values of one field
NOTHING_CHANGED = Message("Nothing was changed: the action was undone before, or its effect has changed meanwhile.")


class Recording(Enum):
    """How an operation is recorded."""

    IN_TRANSACTION = 1  # with its effect, which is in the store
    AFTERWARDS = 2  # if the program ends after the effect, the record is missing
    BY_SERVICE = 3  # the service that `apply` calls records it


@dataclass(frozen=True)
class Field:
    """A field of the form of an operation. A list has all submitted values; `choices` are the only allowed ones.

    `missing_message` is shown if a required field is empty; "" for one that the form always has.
    """

    name: str
    max_chars: int = 2000
    choices: tuple[str, ...] = ()
    is_list: bool = False
    is_required: bool = False
    missing_message: str = ""

    def check(self, texts: Sequence[str]) -> None:
        """Raise PlumblineError for a text that is too long, and for too many of them. A cut text is another text."""
        for limit, length in ((self.max_chars, max(map(len, texts), default=0)), (MAX_LIST_LENGTH, len(texts))):
            if length > limit:
                raise PlumblineError(
                    "This is too much: at most {limit}, not {length}. Nothing is changed.", limit=limit, length=length
                )


@dataclass(frozen=True)
class Call:
    """A call of an operation: the account, the values of the fields, and the id of the record (0: not recorded yet).

    `expected` are the values after the operation that this call undoes; an operation that finds other values refuses.
    """

    account: str
    values: Values
    operation_id: int = 0
    expected: Values | None = None

    def text(self, name: str) -> str:
        """Return the text of a field, "" if it is missing."""
        return str(self.values.get(name, ""))


@dataclass(frozen=True)
class Change:
    """What an operation did.

    `subject` is what it changed: a URL, a host, an account. The history shows `after`, and the inverse expects it. With
    the values `before`, the inverse restores the state before; None: it cannot be undone. `result` is for the caller.
    """

    subject: str
    after: Values = field(default_factory=dict)
    before: Values | None = None
    result: Any = None


@dataclass(frozen=True)
class Operation:
    """A declared change.

    Attributes:
        name: Its code in the history and in the URL of its form, at most 64 characters.
        role: The role that may do it; None: every account.
        apply: Makes the change; None if nothing was left to change. Raises PlumblineError if it is not possible.
        fields: The fields of its form.
        inverse: Name of the operation that undoes it; "" if nothing does.
        message: Shown after it, with the values `Change.after` and `name`, the subject. "": the operation
            has no generic form, because a view of its own or another operation gives it more values than its fields.
        unchanged_message: Shown if nothing was left to change.
        recording: How it is recorded.
    """

    name: str
    role: Role | None
    apply: Callable[[Call], Change | None]
    fields: tuple[Field, ...] = ()
    inverse: str = ""
    message: str = ""
    unchanged_message: str = NOTHING_CHANGED
    recording: Recording = Recording.IN_TRANSACTION


@dataclass(frozen=True)
class OperationRecord:
    """A recorded operation, with the values of its `Change`. `at` is epoch seconds.

    `account` is the name of the system user for a command, and "" for the program itself. `undone_by` is the operation
    that undid this one; None if it is in effect.
    """

    operation_id: int
    at: float
    account: str
    name: str
    subject: str
    before: Values | None
    after: Values
    undone_by: int | None = None
