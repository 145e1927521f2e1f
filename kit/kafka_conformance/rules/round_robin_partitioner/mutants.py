"""Known mistakes in ``round-robin-partitioner``."""

from __future__ import annotations

from kafka_conformance.rules.common.partitioner_mutants import STICKY_MUTANTS

__all__ = ["MUTANTS"]

MUTANTS = tuple(mutant for mutant in STICKY_MUTANTS if mutant.rule == "round-robin-partitioner")
