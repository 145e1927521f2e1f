"""``audit --folder FOLDER --report-only``: the result of a finished audit, from its folder alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafka_conformance.cli.audit_scope import Scope
from kafka_conformance.cli.audit_source import Given, open_session
from kafka_conformance.core.errors import BadInput

if TYPE_CHECKING:
    from kafka_conformance.audit.result import Audit

__all__ = ["finished"]


def finished(sources: Sequence[str], given: Given, scope: Scope) -> Audit:
    """Return the result of the audit in the folder. Raises BadInput, KitError."""
    from kafka_conformance.audit.attribution.candidates import load_candidates, register
    from kafka_conformance.audit.engines.finished_run import finished_audit, finished_on_spark

    if sources or not given.folder:
        raise BadInput(
            "--report-only reports what is in --folder FOLDER: name the folder of a finished audit, and no topic"
        )
    if "://" not in given.folder:
        register(load_candidates(scope.candidate))
        return finished_audit(given.folder)
    with open_session(given) as spark:
        return finished_on_spark(spark, given.folder)
