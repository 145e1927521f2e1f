"""Answer a question about an index of a segment with the reference: each step as a call, each result as an answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from kafka_conformance.core.protocol import Answer, answered, exception_answer
from kafka_conformance.rules.common.index_steps import (
    BytesStep,
    CanAppendStep,
    CloseHandlerStep,
    CloseStep,
    DeleteStep,
    EntriesStep,
    EntryStep,
    FilledFile,
    FlushStep,
    LookStep,
    LookupStep,
    NameStep,
    RelativeStep,
    RenameStep,
    ReopenStep,
    ResetStep,
    ResizeStep,
    SanityCheckStep,
    TrimStep,
    TruncateStep,
    TruncateToStep,
)
from kafka_reference.errors import JavaException
from kafka_reference.log_files.abstract_index import AbstractIndex
from kafka_reference.log_files.mapped_file import Folder
from kafka_reference.log_files.names import DELETED, file_name, offset_of_file
from kafka_reference.log_files.offset_index import OffsetIndex
from kafka_reference.log_files.time_index import TimeIndex
from kafka_reference.releases import Release

__all__ = ["IndexHistory"]

IndexT = TypeVar("IndexT", bound=OffsetIndex | TimeIndex)

_CALLS: dict[type, Callable[[AbstractIndex], None]] = {
    TruncateStep: lambda index: index.truncate(),
    TrimStep: lambda index: index.trim_to_valid_size(),
    FlushStep: lambda index: index.flush(),
    CloseStep: lambda index: index.close(),
    SanityCheckStep: lambda index: index.sanity_check(),
}


class IndexHistory(ABC, Generic[IndexT]):
    """An index of a segment, step by step. ``error`` is the answer of a question whose index cannot be opened, or None."""

    def __init__(self, question: Any, release: Release, create: Callable[..., IndexT]) -> None:
        self._question, self._release, self._create = question, release, create
        self._folder: Folder = {}
        self._suffix = ""
        self.error: Answer | None = None
        file = question.file
        data = None if file is None else self.filled(file) if isinstance(file, FilledFile) else bytes.fromhex(file)
        try:
            self.index = self._open(question.max_index_size, data)
            for entry in question.entries:
                self.append(entry)
        except JavaException as error:
            self.error = exception_answer(error)

    def _open(self, max_index_size: int, data: bytes | None) -> IndexT:
        return self._create(
            self._question.base_offset,
            max_index_size,
            data,
            version=self._release,
            folder=self._folder,
            suffix=self._suffix,
            writable=self._question.writable,
        )

    def answer(self) -> Answer:
        """Return the answer to the whole question."""
        if self._question.steps:
            return {"steps": [self.take(step) for step in self._question.steps]}
        return answered(self._lookups) if self.error is None else self.error

    def _lookups(self) -> Answer:
        return {"found": [list(self.index.lookup(target)) for target in self._question.lookups]}

    def take(self, step: Any) -> Answer:
        """Take one step and return its answer."""
        if self.error is not None:
            return self.error
        return answered(self._take, step)

    @abstractmethod
    def append(self, entry: Any) -> None:
        """Append an entry of the short form."""

    @abstractmethod
    def own(self, step: Any) -> Answer | None:
        """Take a step that only this index has, or return None."""

    @abstractmethod
    def last(self) -> Any:
        """Return the last entry as an answer."""

    @staticmethod
    @abstractmethod
    def read(data: bytes, base_offset: int) -> Sequence[tuple[int, int]]:
        """Return the entries of a file."""

    @staticmethod
    @abstractmethod
    def filled(file: FilledFile) -> bytes:
        """Return the bytes of a file with many entries."""

    def _take(self, step: Any) -> Answer:
        found = self.own(step)
        if found is None:
            found = self._read_step(step)
        if found is None:
            found = self._call_step(step)
        if found is None:
            self._change(step)
        return found or {}

    def _read_step(self, step: Any) -> Answer | None:
        index = self.index
        match step:
            case LookupStep(target):
                return {"found": list(index.lookup(target))}
            case EntryStep(number):
                return {"entry": list(index.entry(number))}
            case EntriesStep():
                return {"entries": self._entries()}
            case NameStep(offset):
                return {"name": file_name(offset), "offset": offset_of_file(file_name(offset, index.kind, DELETED))}
            case BytesStep():
                return {"bytes": None if index.data is None else index.data.hex()}
            case LookStep():
                return self._look()
        return None

    def _call_step(self, step: Any) -> Answer | None:
        index = self.index
        match step:
            case ResizeStep(size):
                resized = index.resize(size)
                return {} if index.behaviour.same_size_maps_again else {"resized": resized}
            case DeleteStep():
                return {"deleted": index.delete()}
            case CanAppendStep(offset):
                return {"fits": index.can_append_offset(offset)} if index.behaviour.has_offset_check else {}
            case RelativeStep(offset):
                return {"relative": index.relative_offset(offset)} if index.behaviour.has_offset_check else {}
        return None

    def _change(self, step: Any) -> None:
        index, behaviour = self.index, self.index.behaviour
        match step:
            case TruncateToStep(offset):
                index.truncate_to(offset)
            case ResetStep():
                if behaviour.has_reset:
                    index.reset()
            case CloseHandlerStep():
                if behaviour.has_close_handler:
                    index.unmap()
            case RenameStep(suffix):
                self._suffix = suffix
                index.rename(suffix)
            case ReopenStep(max_index_size):
                index.unmap()
                self.index = self._open(max_index_size, None)
            case _:
                _CALLS[type(step)](index)

    def _entries(self) -> list[list[int]]:
        index = self.index
        if index.entries:
            index.entry(index.entries - 1)
        base_offset = 0 if index.behaviour.entry_is_relative else index.base_offset
        return list(map(list, self.read((index.data or b"")[: index.size_in_bytes], base_offset)))

    def _look(self) -> Answer:
        index = self.index
        answer: Answer = {
            "entries": index.entries,
            "max_entries": index.max_entries,
            "size": index.size_in_bytes,
            "full": index.is_full,
            "last": self.last(),
        }
        return answer if index.behaviour.same_size_maps_again else {**answer, "length": index.length}
