"""How Hypothesis runs in unit tests: the same examples every time, and no deadline; ``--changed``, ``--fuzz-seconds``,
``--broker-starts``.

Exploring is what ``verify`` is for, with a seed that it prints. A deadline is a timed test: one slow moment of a shared
machine, and a right answer fails.
"""

from __future__ import annotations

import gc
import os
import secrets
import sys

import pytest
from clean_state import set_own_state
from hypothesis import settings
from hypothesis.internal.entropy import deterministic_PRNG

# Here, and not in a fixture: modules of tests read the environment when they are imported.
set_own_state()

# Frozen cases and questions live to the end: collecting such objects again and again takes a sixth of the time.
gc.set_threshold(200_000, 50, 100)

settings.register_profile("unit", deadline=None, derandomize=True)
settings.load_profile("unit")

# The first use collects garbage and looks for what refers to a generator: while little is loaded, and before `gc.freeze`.
with deterministic_PRNG():
    pass


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    parser.addoption(
        "--changed",
        action="store_true",
        help="of the tests of a rule whose mutants the shipped record proves as installed, run one of each kind",
    )
    parser.addoption(
        "--fuzz-seconds",
        type=float,
        help="explore each parser of tests/fuzz for this number of seconds, from a seed that is printed",
    )
    parser.addoption(
        "--broker-starts",
        type=int,
        help="of tests/cluster/test_broker_starts.py: start a broker of each release on this number of damaged directories, "
        "from a seed that is printed (default: 20, from seed 1)",
    )
    parser.addoption("--broker-starts-seed", type=int, help="with --broker-starts: the seed (default: a fresh one)")
    parser.addoption("--fuzz-seed", type=int, help="with --fuzz-seconds: the seed (default: a fresh one)")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of a long run here: workers of pytest-xdist receive it."""
    for length, seed in (("fuzz_seconds", "fuzz_seed"), ("broker_starts", "broker_starts_seed")):
        if config.getoption(length) is not None and config.getoption(seed) is None:
            setattr(config.option, seed, secrets.randbits(32))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, with ``--changed``, the tests of rules that have not changed."""
    if config.getoption("changed"):
        # Imported only here: all rules are loaded with it.
        from changed_rules import without_unchanged

        from kafka_conformance.rules.mutants import MUTANTS
        from kafka_conformance.verify.mutants.record import proven_rows, shipped

        kept, left_out = without_unchanged(items, proven_rows(shipped(), MUTANTS).keys())
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def pytest_collection_finish() -> None:
    """Keep what is loaded out of every collection of garbage: it lives to the end of the process."""
    gc.freeze()


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Forget the modules that a test imported from its folder: a later test may import others of the same name."""
    folder = getattr(item, "funcargs", {}).get("tmp_path")
    if folder is None:
        return
    below = f"{folder}{os.sep}"  # compared as text: thousands of modules after thousands of tests
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.startswith(below):
            del sys.modules[name]
    sys.path[:] = [entry for entry in sys.path if not f"{entry}{os.sep}".startswith(below)]
