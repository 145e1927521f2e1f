"""``drift`` with the real Java: what is known to have changed, moved and stayed is found, and a release nobody published."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from kafka_jars.errors import JarNotPublished

FEW = ("--examples", "30", "--seed", "7")


def test_one_rule_that_4_4_0_changed_and_one_that_it_did_not(kit: Callable[..., Any]) -> None:
    """4.4.0 is treated as unknown. That it made the choice of partitions depend on racks is in the behaviour records."""
    ran = kit("drift", "4.4.0", "--after", "4.3.1", "--rules", "murmur2,builtin-partitioner", *FEW)
    assert ran.code == 1, ran.err
    assert re.search(r"^murmur2: same as 4\.3\.1, [\d,]+ questions$", ran.out, re.MULTILINE)
    changed = re.search(
        r"^builtin-partitioner: changed, ([\d,]+) of ([\d,]+) questions differ from 4\.3\.1", ran.out, re.MULTILINE
    )
    assert changed, ran.out
    assert 0 < int(changed[1].replace(",", "")) < int(changed[2].replace(",", ""))
    examples = re.findall(r"^  question  (.+)\n  java 4\.3\.1  (.+)\n  java 4\.4\.0  (.+)$", ran.out, re.MULTILINE)
    assert examples
    assert all("rack_aware" in question and before != after for question, before, after in examples)
    assert ran.out.endswith("4.4.0 after 4.3.1: 2 rules: 1 same, 1 changed; seed 7\n")


def test_a_class_that_4_0_0_removed_is_named(kit_here: Callable[..., Any]) -> None:
    """3.9 has the last DefaultPartitioner; the kit is asked as if it did not know that."""
    ran = kit_here("drift", "4.0.0", "--after", "3.9.2", "--rules", "default-partitioner,murmur2", *FEW)
    assert ran.code == 1
    assert "default-partitioner: moved, in 4.0.0 " in ran.out
    assert "DefaultPartitioner" in ran.out.partition("moved, in 4.0.0 ")[2].splitlines()[0]
    assert "murmur2: same as 3.9.2" in ran.out


def test_a_release_that_nobody_published(kit_here: Callable[..., Any]) -> None:
    with pytest.raises(JarNotPublished, match=r"^org.apache.kafka:kafka-clients:9\.9\.9 is in no repository"):
        kit_here("drift", "9.9.9", "--rules", "murmur2", *FEW)
