"""Steps of an accumulator, answers to them by anybody, in words."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition
from kafka_conformance.rules.record_accumulator.explain_text import answer_words, mark_words, step_words
from kafka_conformance.rules.record_accumulator.question import (
    AbortStep,
    AdvanceStep,
    AppendStep,
    BlockedStep,
    CloseStep,
    CompleteStep,
    DrainStep,
    ExpireStep,
    LatencyStep,
    LoadStep,
    LookStep,
    MoveStep,
    MuteStep,
    ReadyStep,
    ReenqueueStep,
    SplitStep,
    UnmuteStep,
)

CLUSTER = AskedCluster((AskedNode(0),), (AskedPartition(0, 0), AskedPartition(1, None)))


@pytest.mark.parametrize(
    ("step", "words", "mark"),
    [
        (AppendStep(0, "666f6f", "00", 0), 'append to t-0: key "foo" (666f6f), value of 1 B', "append 0"),
        (
            AppendStep(None, None, None, 7, "u", 2),
            "append to u, partition to be chosen (up to 3.2.x: 2): no key, no value, timestamp 7",
            "append",
        ),
        (AdvanceStep(1), "1 ms goes by", "+1 ms"),
        (DrainStep((0, 2), 5000), "drain for nodes 0, 2, up to 5,000 B each", "drain 0,2"),
        (DrainStep((), 1), "drain for no node, up to 1 B each", "drain "),
        (ReenqueueStep(3), "#3 is queued again", "retry"),
        (SplitStep(-1), "the last batch in flight is split", "split"),
        (CompleteStep(-3), "the last batch in flight but 2 is completed", "complete"),
        (LatencyStep(1, False), "node 1 has batches ready and cannot take them", "node 1 slow"),
        (LoadStep(), "load statistics of t", "load"),
        (MuteStep(1), "mute t-1", "mute 1"),
        (UnmuteStep(1, "t", 30), "unmute t-1, throttled for 30 ms", "unmute 1"),
        (BlockedStep(2), "2 threads wait for memory", "2 blocked"),
        (
            MoveStep(CLUSTER, (3, None)),
            "the cluster becomes\nnode 0 leads 0\nno leader for 1\nleader epochs 3, ?",
            "cluster",
        ),
        (CloseStep(), "close: no more records", "close"),
    ],
)
def test_accumulator_step_text_and_mark_name_operation_and_arguments(step: Any, words: str, mark: str) -> None:
    assert step_words(step) == words
    assert mark_words(step, None, ()) == mark


@pytest.mark.parametrize(
    ("step", "answer", "words"),
    [
        (ReadyStep(), {"nodes": [], "delay_ms": 0, "unknown_leader_topics": True},
         "no node ready; look again in 0 ms; leaders unknown: some topic"),
        (ExpireStep(), {"batches": [], "next_expiry_ms": 7}, "nothing has expired; the next may at 7 ms"),
        (LoadStep(), None, "none: all partitions count alike"),
        (LoadStep(), {"range_end": 8, "partition_ids": [2, 0], "cumulative": [5, 8]}, "of 8: partition 2 5, partition 0 3"),
        (LookStep(), {"queues": {"t-0": [[1, 2, 90], [3, 1, 70]], "t-1": []}, "incomplete": [1], "memory": 5},
         "t-0: #1 #3; incomplete: #1; 5 B free"),
        (AbortStep(), {"memory": 9}, "memory 9"),
        (CloseStep(), {}, "–"),
        (ReadyStep(), {"raises": "NullPointerException"}, "raises NullPointerException"),
    ],
)  # fmt: skip
def test_accumulator_answer_text_names_nodes_batches_or_exception(step: Any, answer: Any, words: str) -> None:
    assert answer_words(step, answer) == words


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "null"), ({}, "–"), ([], "[]"), (7, "7"), ("x", '"x"'), ({"nodes": 3}, "nodes 3"),
        ({"batches": [[]]}, "batches [[]]"), ({"new_batch": 1}, "new_batch 1"), ({"queues": []}, "queues []"),
    ],
)  # fmt: skip
def test_accumulator_answer_of_unexpected_shape_is_shown_as_plain_fields_or_json(answer: Any, words: str) -> None:
    steps = {
        AppendStep(None, None, "00", 0): "append", ReadyStep(): "ready", DrainStep((0,), 9): "drain 0",
        ExpireStep(): "expire", LookStep(): "look", SplitStep(0): "split", AbortStep(): "abort",
    }  # fmt: skip
    for step, mark in steps.items():
        has_effect = isinstance(step, AppendStep | SplitStep | AbortStep)
        assert answer_words(step, answer) == ("–" if has_effect and not answer else words)
        taken = isinstance(step, DrainStep | ExpireStep) and answer == {"batches": [[]]}
        assert mark_words(step, answer, ()) == mark + " → #[]" * taken
