"""Known mistakes in ``sequence-increment``."""

from __future__ import annotations

from kafka_conformance.rules.common.sequence_mutants import SEQUENCE_STEP_MUTANTS

__all__ = ["MUTANTS"]

MUTANTS = tuple(mutant for mutant in SEQUENCE_STEP_MUTANTS if mutant.rule == "sequence-increment")
