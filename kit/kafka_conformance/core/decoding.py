"""What decoders raise for a file or a line that cannot be read."""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ["UNREADABLE", "UNREADABLE_TOML"]

UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""Of ``msgspec.json``: it may be no JSON, not even UTF-8, or nested deeper than Python can follow."""

UNREADABLE_TOML: Final = (ValueError, RecursionError)
"""Of ``tomllib``, whose errors are ValueErrors, as are those of text and of a number with thousands of digits."""
