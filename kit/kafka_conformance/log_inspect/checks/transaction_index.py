"""The transaction index: an entry for every aborted transaction whose marker is in the segment, and no other.

Java source mirrored: ``TransactionIndex``, ``LogSegment.updateTxnIndex`` and ``sanityCheck``; ``Cleaner`` keeps the
entries of markers that it keeps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from kafka_conformance.log_inspect.checks.context import Context
from kafka_conformance.log_inspect.checks.offset_index import open_index
from kafka_conformance.log_inspect.checks.producers import AbortedTransaction
from kafka_conformance.log_inspect.findings import Effect
from kafka_conformance.log_inspect.index_files import ENTRY_BYTES, AbortedEntry
from kafka_reference.releases import Release

__all__ = ["check_transaction_index"]

_FIRST_TO_REFUSE_NEGATIVE = (4, 4, 0)
"""A broker of 4.4.0 exits at a negative version too; one of 4.3.1 recovers the segment."""


def check_transaction_index(
    context: Context,
    path: Path,
    offsets: tuple[int, int],
    aborted: Sequence[AbortedTransaction],
    markers: Mapping[int, int],
    *,
    sound: bool,
    release: Release,
) -> Collection[int]:
    """Hold the index against the aborted transactions of a segment and its abort markers (offset to producer id).

    ``offsets`` are the first and last of the segment; ``sound`` tells whether all of its batches could be read.
    A broker exits at an entry of another version, unless the offset index is missing: then it writes both again.
    Returns the offsets of abort markers in the index.
    """
    name, findings = context.name(path), context.findings
    listed: dict[int, AbortedEntry] = {}
    there = path.exists() or path.is_symlink()
    index = open_index(context, path, offsets[0], growing=False) if there else None
    if there and index is None:
        return ()
    before = -1
    opened = path.with_suffix(".index").exists()
    try:
        for entry in index.aborted_entries() if index is not None else ():
            why = _contradiction(entry, before, offsets)
            stops = opened and (
                entry.version > 0 or (entry.version < 0 and release.numbers >= _FIRST_TO_REFUSE_NEGATIVE)
            )
            # A start reads this index before it recovers anything, up to an entry with which it recovers the segment.
            opened = opened and not stops and entry.last_offset >= offsets[0]
            if not why and sound and not context.cleaned and markers.get(entry.last_offset) != entry.producer_id:
                why = f"offset {entry.last_offset} is not an abort marker of this producer"
            if why:
                findings.add(
                    "transaction-index-wrong", name, f"producer {entry.producer_id}, offsets {entry.first_offset} to "
                    f"{entry.last_offset}: {why}", position=entry.at, size=ENTRY_BYTES["txnindex"], offset=entry.last_offset,
                    effect=Effect.STOPS if stops else None,
                )  # fmt: skip
            before = max(before, entry.last_offset)
            listed[entry.last_offset] = entry
    except OSError as error:
        findings.add("unreadable", name, str(error.strerror))
        return ()
    for each in aborted:
        found = listed.get(each.last_offset)
        if found is None and not context.cleaned:
            findings.add(
                "aborted-transaction-not-indexed", name, f"producer {each.producer_id}, offsets {each.first_offset} to "
                f"{each.last_offset}", offset=each.first_offset,
            )  # fmt: skip
        elif (
            found is not None
            and not context.cleaned
            and (found.first_offset > each.first_offset or (each.certain and found.first_offset != each.first_offset))
        ):
            findings.add(
                "transaction-index-wrong", name, f"the transaction of producer {each.producer_id} begins at "
                f"{each.first_offset}, not {found.first_offset}", position=found.at, size=ENTRY_BYTES["txnindex"],
                offset=each.first_offset,
            )  # fmt: skip
    return listed


def _contradiction(entry: AbortedEntry, before: int, offsets: tuple[int, int]) -> str:
    if entry.version != 0:
        return f"version {entry.version} is not 0"
    if entry.last_offset <= before:
        return f"it follows an entry that ends at {before}"
    if entry.producer_id < 0 or entry.last_stable_offset < 0:
        return "it has a negative field"
    if not 0 <= entry.first_offset <= entry.last_offset:
        return "it ends before it begins"
    if not offsets[0] <= entry.last_offset <= offsets[1]:
        return f"the segment has offsets {offsets[0]} to {offsets[1]}"
    return ""
