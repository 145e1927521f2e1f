"""The steps of an accumulator, its answers and its reasons as text, for ``explain``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kafka_conformance.core.timeline import NOTHING
from kafka_conformance.rules.common.step_text import (
    answer_in_words,
    bytes_in_words,
    cluster_in_words,
    count_of,
    plain_step_in_words,
    raised,
)
from kafka_conformance.rules.record_accumulator.question import (
    AdvanceStep,
    AppendStep,
    BlockedStep,
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
from kafka_conformance.rules.record_sizes.question import AskedField, Length
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.reasons import (
    BackoffCheck,
    BatchNeeded,
    DrainCheck,
    NodeVisit,
    QueueSkipped,
    ReadyCheck,
    Reason,
    SequenceWait,
    Skip,
    StickyUpdate,
)

__all__ = ["answer_words", "mark_words", "partition_name", "reason_words", "step_words"]

_PLAIN = {
    "flush": "begin to flush",
    "flushed": "end the flush, if every batch is complete",
    "close": "close: no more records",
    "abort": "abort all batches",
    "abort_undrained": "abort what was never drained",
    "ready": "ready?",
    "expire": "expire what is too old",
    "look": "look at the queues",
}


def step_words(step: Any) -> str:
    """Return a step as text."""
    match step:
        case AppendStep(partition, key, value, timestamp, topic, chosen, headers):
            to = f"{topic}-{partition}" if partition is not None else f"{topic}, partition to be chosen"
            before = "" if chosen is None or partition is not None else f" (up to 3.2.x: {chosen})"
            sized = f"{_sized('key', key)}, {_sized('value', value)}"
            sized += f", {len(headers)} header{'s' * (len(headers) > 1)}" if headers else ""
            return f"append to {to}{before}: {sized}" + (f", timestamp {timestamp}" if timestamp else "")
        case AdvanceStep(ms):
            return f"{ms} ms {'goes' if ms == 1 else 'go'} by"
        case DrainStep(nodes, max_size):
            return f"drain for {_nodes(nodes)}, up to {max_size:,} B each"
        case ReenqueueStep(number):
            return f"{_batch(number)} is queued again"
        case SplitStep(number):
            return f"{_batch(number)} is split"
        case CompleteStep(number):
            return f"{_batch(number)} is completed"
        case MoveStep(cluster, epochs):
            known = f"\nleader epochs {', '.join('?' if e is None else str(e) for e in epochs)}" if epochs else ""
            return f"the cluster becomes\n{cluster_in_words(cluster)}{known}"
    return _other_step_words(step)


def _other_step_words(step: Any) -> str:
    match step:
        case LatencyStep(node, can_drain):
            return f"node {node} has batches ready and {'can' if can_drain else 'cannot'} take them"
        case LoadStep(topic):
            return f"load statistics of {topic}"
        case MuteStep(partition, topic):
            return f"mute {topic}-{partition}"
        case UnmuteStep(partition, topic, throttle_ms):
            return f"unmute {topic}-{partition}" + (f", throttled for {throttle_ms} ms" if throttle_ms else "")
        case BlockedStep(threads):
            return f"{count_of(threads, 'thread')} {'waits' if threads == 1 else 'wait'} for memory"
    return _PLAIN.get(str(step.__struct_config__.tag)) or plain_step_in_words(step)


def mark_words(step: Any, answer: Any, reasons: Sequence[Reason]) -> str:
    """Return a step and its outcome in the few words that a figure has room for."""
    raises = raised(answer) if isinstance(answer, dict) else ""
    if raises:
        return f"{_short(step)}: {raises}"
    try:
        return f"{_short(step)}{_came_of(step, answer)}{_in_brief(reasons)}"
    except (KeyError, TypeError, ValueError):
        return _short(step)


def _in_brief(reasons: Sequence[Reason]) -> str:
    """Why the first node is ready, or what there is to wait for."""
    looked = [reason for reason in reasons if isinstance(reason, ReadyCheck)]
    ready = [one for one in looked if one.left_ms is None]
    if ready:
        one = ready[0]
        terms = ("full", one.full), ("waited", one.waited_ms >= one.to_wait_ms), ("closed", one.closed)
        others = ("flushing", one.flushing), ("memory", one.exhausted)
        return f" ({', '.join(word for word, holds in (*terms, *others) if holds)})"
    if looked:
        return f" ({'back-off' if min(looked, key=lambda one: one.left_ms or 0).backing_off else 'linger'})"
    return ""


def _short(step: Any) -> str:
    match step:
        case AppendStep():
            return "append" if step.partition is None else f"append {step.partition}"
        case AdvanceStep(ms):
            return f"+{ms} ms"
        case DrainStep(nodes):
            return f"drain {','.join(map(str, nodes))}"
        case ReenqueueStep():
            return "retry"
        case LatencyStep(node, can_drain):
            return f"node {node} {'takes' if can_drain else 'slow'}"
        case MuteStep(partition) | UnmuteStep(partition):
            return f"{step.__struct_config__.tag} {partition}"
        case BlockedStep(threads):
            return f"{threads} blocked"
    return str(step.__struct_config__.tag).replace("_", " ")


def _came_of(step: Any, answer: Any) -> str:
    match step:
        case AppendStep():
            where = "" if step.partition is not None else f" → {answer['partition']}"
            return where + (", new" if answer["new_batch"] else "")
        case ReadyStep():
            delay = "never" if answer["delay_ms"] is None else f"in {answer['delay_ms']} ms"
            return f" → {','.join(map(str, answer['nodes'])) or delay}"
        case DrainStep() | ExpireStep():
            taken = [each["id"] if isinstance(each, dict) else each for each in answer["batches"]]
            return f" → {' '.join(f'#{number}' for number in taken) or 'none'}"
        case SplitStep() if answer:
            return f" → {len(answer['pieces'])}"
    return ""


def answer_words(step: Any, answer: Any) -> str:
    """Return an answer to this step as text; an implementation under test may give it any form."""
    try:
        return (raised(answer) if isinstance(answer, dict) else "") or _answered(step, answer)
    except (AttributeError, KeyError, TypeError, ValueError):
        return answer_in_words(answer)


def _answered(step: Any, answer: Any) -> str:
    match step:
        case AppendStep() if answer:
            batch = "a new batch" if answer["new_batch"] else "its last batch"
            report = "" if answer["bytes"] is None else f", {answer['bytes']} B reported to the partitioner"
            wakes = "; full or not alone, the sender is woken" if answer["batch_full"] else ""
            return f"into {batch} of partition {answer['partition']}{report}{wakes}"
        case ReadyStep():
            nodes, delay, unknown = answer["nodes"], answer["delay_ms"], answer["unknown_leader_topics"]
            parts = [f"{_nodes(nodes)} ready" if nodes else "no node ready"]
            parts.append("nothing else to wait for" if delay is None else f"look again in {delay} ms")
            if unknown:
                topics = "some topic" if unknown is True else ", ".join(unknown)
                parts.append(f"leaders unknown: {topics}")
            return "; ".join(parts)
        case DrainStep():
            return f"takes {'; '.join(map(_taken, answer['batches'])) or 'nothing'}"
        case ExpireStep():
            gone, following = answer["batches"], answer["next_expiry_ms"]
            parts = [f"expired: {', '.join(f'#{number}' for number in gone)}" if gone else "nothing has expired"]
            return "; ".join([*parts, *([] if following is None else [f"the next may at {following} ms"])])
        case LoadStep():
            return "none: all partitions count alike" if answer is None else _table(answer)
        case LookStep():
            queues = [
                f"{name}: {_numbers(batch[0] for batch in queue)}" for name, queue in answer["queues"].items() if queue
            ]
            not_done = f"incomplete: {_numbers(answer['incomplete'])}"
            return "; ".join([*queues, not_done, f"{answer['memory']:,} B free"])
        case _ if not answer:
            return NOTHING
    return answer_in_words(answer)


def _numbers(batches: Iterable[int]) -> str:
    return " ".join(f"#{number}" for number in batches) or "nothing"


def _taken(batch: Any) -> str:
    return f"#{batch['id']} of partition {batch['partition']}, {count_of(batch['records'], 'record')}"


def _table(answer: Any) -> str:
    starts = [0, *answer["cumulative"][:-1]]
    spans = zip(answer["partition_ids"], starts, answer["cumulative"], strict=True)
    shares = ", ".join(f"partition {number} {end - start}" for number, start, end in spans)
    return f"of {answer['range_end']}: {shares}"


def reason_words(reasons: Sequence[Reason], delay_ms: int | None, metadata: Metadata) -> Iterator[str]:
    """Yield each reason as text; the first that asks for ``delay_ms`` is marked as the source of the delay."""
    delayed = False
    for reason in reasons:
        match reason:
            case ReadyCheck():
                yield _looked(reason) + (" ← the delay" if not delayed and _asks(reason, delay_ms) else "")
                delayed = delayed or _asks(reason, delay_ms)
            case QueueSkipped(where, why):
                yield f"{partition_name(where)}: {_skipped(why, metadata.leader(*where))}"
            case NodeVisit(node, start, count):
                first = (metadata.node_partitions(node) or ())[start]
                yield f"node {node}: {count_of(count, 'partition')}, from {partition_name(first)} on"
            case _:
                yield _other(reason)


def _asks(reason: ReadyCheck, delay_ms: int | None) -> bool:
    return reason.left_ms is not None and reason.left_ms == delay_ms


def _looked(one: ReadyCheck) -> str:
    which = "back-off" if one.backing_off else "linger"
    enough = "≥" if one.waited_ms >= one.to_wait_ms else "<"
    terms = ["full" if one.full else "not full", f"waited {one.waited_ms} {enough} {one.to_wait_ms} ms of {which}"]
    terms += ["threads wait for memory"] * one.exhausted + ["closed"] * one.closed + ["flushing"] * one.flushing
    terms += ["backing off"] * one.backing_off
    verdict = f"node {one.leader} is ready" if one.left_ms is None else f"look again in {one.left_ms} ms"
    return f"{partition_name(one.topic_partition)} #{one.number}: {', '.join(terms)} → {verdict}"


def _skipped(why: Skip, leader: int | None) -> str:
    match why:
        case Skip.LEADER_UNKNOWN:
            return "no leader → its topic needs metadata"
        case Skip.LEADER_READY:
            return f"node {leader} is ready already → skipped"
        case Skip.MUTED:
            return "muted → skipped"
        case Skip.BACKING_OFF:
            return "backs off → skipped"
    return "nothing queued"


def _other(reason: BackoffCheck | DrainCheck | SequenceWait | BatchNeeded | StickyUpdate) -> str:
    match reason:
        case BackoffCheck(where, number, attempts, waited, back_off, new_leader):
            times = "once" if attempts == 1 else f"{attempts} times"
            enough = "≥" if waited >= back_off else "<"
            verdict = "backs off" if reason.backing_off else "may be sent"
            why = f"waited {waited} {enough} {back_off} ms of back-off" + (
                ", but its leader is new" if new_leader else ""
            )
            return f"{partition_name(where)} #{number}: retried {times}, {why} → {verdict}"
        case DrainCheck(where, number, size, before, most, room):
            sum_ = f"{before} + {size} B" if before else f"{size} B"
            if not room:
                return f"{partition_name(where)} #{number}: {sum_} > {most:,} B → no room left, the visit ends"
            why = f"≤ {most:,} B" if before + size <= most else f"> {most:,} B, but the first is always taken"
            return f"{partition_name(where)} #{number}: {sum_} {why} → taken"
        case SequenceWait(where, number, what):
            return f"{partition_name(where)} #{number}: waits for {what}, the visit ends"
        case BatchNeeded(where, last, size, full):
            if last is None:
                return f"{partition_name(where)}: nothing queued → a new batch is needed"
            why = "is full" if full else "has no room for it, and is closed"
            return f"{partition_name(where)}: #{last}, {size} B, {why} → a new batch is needed"
        case StickyUpdate(topic, partition, produced, size, may_leave, left):
            least = "≥" if produced >= size else "<"
            free = (
                ""
                if produced < size
                else ", its last batch is full or gone"
                if may_leave
                else ", its last batch is open"
            )
            verdict = f"{topic} switches" if left else f"{topic} stays"
            return f"{topic}-{partition}: {produced} B {least} batch.size {size}{free} → {verdict}"


def partition_name(topic_partition: tuple[str, int]) -> str:
    """Return a partition as ``t-0``."""
    return "{}-{}".format(*topic_partition)


def _sized(what: str, asked: AskedField) -> str:
    if asked is None:
        return f"no {what}"
    if isinstance(asked, Length):
        return f"{what} of {asked.length:,} B"
    if what == "value":
        return f"value of {len(asked) // 2} B"
    return f"{what} {bytes_in_words(asked)}"


def _nodes(nodes: Sequence[int]) -> str:
    return f"{'node' if len(nodes) == 1 else 'nodes'} {', '.join(map(str, nodes))}" if nodes else "no node"


def _batch(number: int) -> str:
    if number >= 0:
        return f"#{number}"
    return "the last batch in flight" if number == -1 else f"the last batch in flight but {-number - 1}"
