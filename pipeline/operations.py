"""The operations of a vertical: what accounts change in the browser and on the command line."""

import time
from collections.abc import Mapping

from docstore.account_administration import AccountOperations
from docstore.terms.relations import OPERATION_BY_STATE
from domain.operation import Change, Operation
from pipeline.alerts.service import alert_test_operation
from pipeline.engine import Engine
from pipeline.explain.diagnosis_service import StorePageDiagnosis
from pipeline.follows.tools import follow_operations
from pipeline.site_admin.run_control import EngineRunControl
from pipeline.site_admin.site_operations import site_operations
from pipeline.site_admin.takedowns import takedown_operations
from search_ui.accounts import SESSION_SECONDS


def declare_operations(engine: Engine, is_command: bool = False) -> Mapping[str, Operation]:
    """Return the operations of a vertical by name.

    Commands may remove the last administrator.
    """
    store = engine.store
    accounts = AccountOperations(store.accounts, lambda: time.time() + SESSION_SECONDS, not is_command)
    all_operations = (
        *accounts.declare(),
        *store.api_tokens.operations,
        *store.alert_mutes.operations,
        *store.curation.operations,
        *store.term_comments.operations,
        store.term_assignments.operation,
        *map(store.relations.operation, OPERATION_BY_STATE),
        *takedown_operations(store.takedowns),
        *EngineRunControl(engine).operations,
        *StorePageDiagnosis(engine).operations,
        *site_operations(engine),
        alert_test_operation(engine.settings.current),
        *follow_operations(engine),
    )
    return {operation.name: operation for operation in all_operations}


def run_command(engine: Engine, name: str, account: str, /, **values: object) -> Change | None:
    """Run an operation for a command; None if nothing was left to change. Raises PlumblineError."""
    return engine.store.operations.run(declare_operations(engine, is_command=True)[name], account, values)
