"""How Hypothesis runs in unit tests: the same examples every time, and no deadline.

Exploring is what ``verify`` is for, with a seed that it prints. A deadline is a timed test: one slow moment of a shared
machine, and a right answer fails.
"""

from __future__ import annotations

import gc

from hypothesis import settings

# Frozen cases and questions live to the end: collecting such objects again and again takes a sixth of the time.
gc.set_threshold(200_000, 50, 100)

settings.register_profile("unit", deadline=None, derandomize=True)
settings.load_profile("unit")
