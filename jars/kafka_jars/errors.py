"""What can go wrong with a jar. Each error says what happened and what to do, in one line."""

from __future__ import annotations

__all__ = ["JarChanged", "JarError", "JarNotPublished", "JarUnavailable", "PinsUnreadable", "ScratchUnavailable"]


class JarError(Exception):
    """A jar cannot be used. ``str()`` is the line for the user."""


class JarChanged(JarError):
    """The file is there, and it is not the jar that was pinned."""

    def __init__(self, what: str, expected: str, found: str) -> None:
        super().__init__(
            f"{what} is not the jar that was pinned: expected sha256 {expected}, found {found};"
            " delete the file to fetch it again, or find out what changed it"
        )
        self.what, self.expected, self.found = what, expected, found

    def __reduce__(self) -> tuple[type[JarChanged], tuple[str, str, str]]:
        """Pickle the three values, not the message: a worker process sends this error to its parent."""
        return type(self), (self.what, self.expected, self.found)


class JarUnavailable(JarError):
    """The jar is not in the cache and cannot be fetched."""


class JarNotPublished(JarUnavailable):
    """A repository answered that it has no jar of these coordinates."""


class PinsUnreadable(JarError):
    """``releases.toml`` does not say what it should."""


class ScratchUnavailable(JarError):
    """A temporary folder cannot be made: without one, nothing can be fetched, compiled or run."""
