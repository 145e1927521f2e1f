"""Answer a question of ``log-segment`` with the reference."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from kafka_conformance.core.protocol import Answer, answered
from kafka_conformance.rules.log_segment.question import (
    AppendStep,
    CrashStep,
    DamageStep,
    FindStep,
    InactiveStep,
    LogSegmentQuestion,
    LookStep,
    NewBatch,
    NextOffsetStep,
    ReadStep,
    RecoverStep,
    ReopenStep,
    ResizeStep,
    ShouldRollStep,
    TranslateStep,
    TruncateStep,
)
from kafka_reference.log_files.log_segment import LogSegment, RollLimits, SegmentBatch
from kafka_reference.log_files.mapped_file import Folder
from kafka_reference.record_batch import NewBatch as EncodedBatch
from kafka_reference.record_batch import NewRecord, encode_batch
from kafka_reference.releases import Release

__all__ = ["CreateSegment", "SegmentHistory", "ask"]

CreateSegment: TypeAlias = Callable[..., LogSegment]
"""Makes a segment, with the arguments of LogSegment."""


def ask(question: LogSegmentQuestion, release: Release, create: CreateSegment = LogSegment) -> Answer:
    """Answer the question with the reference's segment, or with the one that ``create`` makes."""
    history = SegmentHistory(question, release, create)
    return {"steps": [history.take(step) for step in question.steps]}


@cache
def _size(timestamps: tuple[int, ...], value_bytes: int) -> int:
    value = bytes(value_bytes)
    return len(encode_batch(EncodedBatch(records=[NewRecord(timestamp, None, value) for timestamp in timestamps])))


def _batch(batch: NewBatch) -> SegmentBatch:
    return SegmentBatch(batch.offset, batch.timestamps, _size(batch.timestamps, batch.value_bytes))


class SegmentHistory:
    """A segment, step by step."""

    def __init__(self, question: LogSegmentQuestion, release: Release, create: CreateSegment) -> None:
        self._question, self._release, self._create = question, release, create
        self._folder: Folder = {}
        self._now = question.created_ms
        self.segment = self._open([], 0)

    def _open(self, batches: list[SegmentBatch], cut_bytes: int) -> LogSegment:
        question = self._question
        return self._create(
            question.base_offset,
            index_interval_bytes=question.index_interval_bytes,
            max_index_size=question.max_index_size,
            roll_jitter_ms=question.jitter_ms,
            created_ms=self._now,
            version=self._release,
            folder=self._folder,
            batches=batches,
            cut_bytes=cut_bytes,
        )

    def take(self, step: Any) -> Answer:
        """Take one step and return its answer, without the message of what it raises."""
        self._now = getattr(step, "now", self._now)
        answer = answered(self._take, step)
        return {"raises": answer["raises"]} if "raises" in answer else answer

    def _take(self, step: Any) -> Answer:
        found = self._read(step)
        if found is None:
            found = self._cut(step)
        if found is None:
            self._change(step)
        return found or {}

    def _read(self, step: Any) -> Answer | None:
        segment = self.segment
        match step:
            case ReadStep(offset, max_size, max_position, min_one_message):
                read = segment.read(offset, max_size, max_position, min_one_message)
                if read is None:
                    return {"found": None}
                return {"found": [read.offset, read.position, read.size], "incomplete": read.first_batch_incomplete}
            case TranslateStep(offset):
                found = segment.translate_offset(offset)
                return {"found": found and [segment.translated_offset(found[0]), found[1], found[0].size]}
            case FindStep(timestamp, offset):
                entry = segment.find_offset_by_timestamp(timestamp, offset)
                return {"found": entry and list(entry)}
            case NextOffsetStep():
                return {"offset": segment.read_next_offset()}
            case ShouldRollStep():
                return {"roll": self._should_roll(step)} if segment.behaviour.has_should_roll else {}
            case LookStep():
                offsets, times = segment.offset_index.data or b"", segment.time_index.data or b""
                return {"size": segment.size, "index": offsets.hex(), "time_index": times.hex()}
        return None

    def _should_roll(self, step: ShouldRollStep) -> bool:
        question = self._question
        limits = RollLimits(
            question.segment_bytes, question.segment_ms, step.bytes, step.offset, step.timestamp, step.now
        )
        return self.segment.should_roll(limits)

    def _cut(self, step: Any) -> Answer | None:
        segment = self.segment
        match step:
            case TruncateStep(offset, now):
                return {"truncated": segment.truncate_to(offset, now)}
            case RecoverStep():
                return {"truncated": segment.recover()}
            case CrashStep(cut):
                size = max(segment.size - cut, 0)
                whole = [batch for batch, start in segment.batches_from(0) if start + batch.size <= size]
                self.segment = self._open(whole, size - sum(batch.size for batch in whole))
                return {"truncated": self.segment.recover()}
        return None

    def _change(self, step: Any) -> None:
        segment = self.segment
        match step:
            case AppendStep(batches, leader):
                segment.append([_batch(batch) for batch in batches], by_leader=leader)
            case DamageStep(number):
                for batch in segment.batches[number : number + 1]:
                    batch.valid = not batch.valid
            case InactiveStep():
                segment.become_inactive()
            case ResizeStep(size):
                if segment.behaviour.has_should_roll:
                    segment.resize_indexes(size)
            case ReopenStep():
                segment.close()
                self.segment = self._open(segment.batches, segment.cut_bytes)
