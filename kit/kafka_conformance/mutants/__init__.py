"""The reference with one known mistake in it. A kit that does not notice these notices nothing.

Each is a mistake some port has made, or would: its story says which. ``selftest`` puts every one of them to the real
Java, in a release where the mistake shows, and each has to be found; a survivor means that the questions of its rule
are too weak, and fails the run.
"""

from __future__ import annotations

from dataclasses import replace

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.errors import BadInput
from kafka_conformance.mutants.accumulator import ACCUMULATOR_MUTANTS
from kafka_conformance.mutants.accumulator_memory import ACCUMULATOR_MEMORY_MUTANTS
from kafka_conformance.mutants.broker import BROKER_MUTANTS
from kafka_conformance.mutants.builtin import BUILTIN_MUTANTS
from kafka_conformance.mutants.delivery import DELIVERY_MUTANTS
from kafka_conformance.mutants.folds import FOLD_MUTANTS
from kafka_conformance.mutants.hashed_partitions import HASHED_PARTITION_MUTANTS
from kafka_conformance.mutants.hashes import HASH_MUTANTS
from kafka_conformance.mutants.mutant import Mutant
from kafka_conformance.mutants.ported_hashes import PORTED_HASH_MUTANTS
from kafka_conformance.mutants.producer import PRODUCER_MUTANTS
from kafka_conformance.mutants.producer_config import PRODUCER_CONFIG_MUTANTS
from kafka_conformance.mutants.sender import SENDER_MUTANTS
from kafka_conformance.mutants.sequence_steps import SEQUENCE_STEP_MUTANTS
from kafka_conformance.mutants.sequences import SEQUENCE_MUTANTS
from kafka_conformance.mutants.sizes import SIZE_MUTANTS
from kafka_conformance.mutants.spread import SPREAD_MUTANTS
from kafka_conformance.mutants.sticky import STICKY_MUTANTS
from kafka_conformance.mutants.threads import THREADS

__all__ = ["MUTANTS", "Mutant", "mutant_answerer"]

_MUTANTS: tuple[Mutant, ...] = (
    *HASH_MUTANTS,
    *PORTED_HASH_MUTANTS,
    *FOLD_MUTANTS,
    *HASHED_PARTITION_MUTANTS,
    *PRODUCER_MUTANTS,
    *STICKY_MUTANTS,
    *BUILTIN_MUTANTS,
    *SPREAD_MUTANTS,
    *SIZE_MUTANTS,
    *ACCUMULATOR_MUTANTS,
    *ACCUMULATOR_MEMORY_MUTANTS,
    *SEQUENCE_MUTANTS,
    *PRODUCER_CONFIG_MUTANTS,
    *SEQUENCE_STEP_MUTANTS,
    *BROKER_MUTANTS,
    *DELIVERY_MUTANTS,
    *SENDER_MUTANTS,
)
MUTANTS = tuple(replace(mutant, threads=THREADS.get(mutant.slug, ())) for mutant in _MUTANTS)


def mutant_answerer(slug: str) -> ReferenceAnswerer:
    """The mutant of this name, as an answerer. Raises BadInput."""
    found = next((mutant for mutant in MUTANTS if mutant.slug == slug), None)
    if found is None:
        raise BadInput(f"there is no mutant {slug}: the mutants are {', '.join(mutant.slug for mutant in MUTANTS)}")
    return ReferenceAnswerer(f"mutant:{slug}", found.ask)
