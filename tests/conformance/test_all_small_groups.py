"""All 585,000 groups of up to four members with three topics of up to four partitions, put to Java once, in batches."""

from __future__ import annotations

from itertools import islice

import pytest

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import to_json
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.assignors.spaces import EVERY_GROUP, every_group
from kafka_reference.releases import NEWEST

BATCH = 10_000


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "slug",
    [
        pytest.param(slug, marks=pytest.mark.about(slug))
        for slug in ("range-assignor", "round-robin-assignor", "sticky-assignor", "cooperative-sticky-assignor")
    ],
)
def test_java_and_reference_assignors_agree_on_every_group_of_up_to_four_members(oracle: Oracle, slug: str) -> None:
    java, reference = JavaAnswerer(oracle), ReferenceAnswerer()
    groups, asked = every_group(), 0
    while batch := list(islice(groups, BATCH)):
        expected, actual = (each.answer(RULES[slug], NEWEST, batch) for each in (java, reference))
        differing = [one for one, left, right in zip(batch, expected, actual, strict=True) if left != right]
        assert not differing, f"{len(differing)} of {len(batch)} differ, the first: {to_json(differing[0]).decode()}"
        asked += len(batch)
    assert asked == EVERY_GROUP
