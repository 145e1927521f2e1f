"""Plant a mistake in the source of a module while it is imported: a plugin of pytest, ``-p planted_source``.

``PLANTED`` names the module, a text that it has once, and the text in its place, as JSON. The module's file stays as it is.
"""

from __future__ import annotations

import importlib.machinery
import json
import os
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType

__all__ = ["NAME"]

NAME = "PLANTED"


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles the changed source, and no file of bytecode."""

    def __init__(self, name: str, path: str, old: str, new: str) -> None:
        super().__init__(name, path)
        self._old, self._new = old, new

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path).decode()
        if source.count(self._old) != 1:
            raise ImportError(f"{path} has {self._old!r} {source.count(self._old)} times, not once")
        return compile(source.replace(self._old, self._new), path, "exec")


class _Finder:
    def __init__(self, module: str, old: str, new: str) -> None:
        self._module, self._old, self._new = module, old, new

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._module:
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path, target)
        if found is not None and found.origin is not None:
            found.loader = _Loader(name, found.origin, self._old, self._new)
        return found


if NAME in os.environ:
    sys.meta_path.insert(0, _Finder(*json.loads(os.environ[NAME])))
