"""The tests run in a state of their own, whatever the shell, nohup, a daemon or CI leaves them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random

import pytest
from clean_state import DEFAULTS, LEFT_OUT, TERMINAL, UMASK
from hypothesis import find, settings
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import integers

ROOT = Path(__file__).parents[1]
STATE = """
import os, signal
print([s.name for s in signal.valid_signals() if isinstance(s, signal.Signals) and signal.getsignal(s) == signal.SIG_IGN])
print(os.umask(0), signal.pthread_sigmask(signal.SIG_BLOCK, ()), os.environ.get("TERM"))
"""


def test_signal_handlers_environment_and_umask_have_fixed_values_within_a_test() -> None:
    assert {name: signal.getsignal(getattr(signal, name)) for name in DEFAULTS if name != "SIGALRM"} == {
        name: signal.SIG_DFL
        for name in DEFAULTS
        if name != "SIGALRM"  # pytest-timeout has SIGALRM
    }
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert [name for name in LEFT_OUT if name in os.environ and not name.startswith("COL")] == []
    assert os.environ["TERM"] == TERMINAL
    os.umask(before := os.umask(0))
    assert before == UMASK


def test_child_process_of_a_test_inherits_default_signals_fixed_umask_and_terminal() -> None:
    ran = subprocess.run([sys.executable, "-c", STATE], capture_output=True, text=True, check=True)
    ignored, rest = ran.stdout.splitlines()
    assert ignored == "['SIGPIPE', 'SIGXFSZ']", "Python itself ignores these two"
    assert rest == f"{UMASK} set() {TERMINAL}"


def test_hypothesis_takes_no_constants_from_modules_that_other_tests_loaded(tmp_path: Path) -> None:
    unlikely = 4_611_686_018_427_390_123
    module = tmp_path / "loaded.py"
    module.write_text(f"NUMBER = {unlikely}\n")
    spec = spec_from_file_location("loaded", module)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["loaded"] = loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    with pytest.raises(NoSuchExample):
        find(integers(), lambda number: number == unlikely, settings=settings(max_examples=3_000), random=Random(1))


def _hostile() -> None:
    for name in (*DEFAULTS, "SIGINT"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    os.umask(0o077)


def test_selected_tests_pass_if_pytest_inherits_ignored_signals_and_another_environment(tmp_path: Path) -> None:
    """Tests that failed under nohup, with FORCE_COLOR, in a dumb terminal or with SIGCHLD ignored, and the two above."""
    names = [f"{Path(__file__).relative_to(ROOT)}::{test}" for test in (
        "test_signal_handlers_environment_and_umask_have_fixed_values_within_a_test",
        "test_child_process_of_a_test_inherits_default_signals_fixed_umask_and_terminal",
    )]  # fmt: skip

    names += [
        "tests/kit/core/test_progress.py",
        "tests/kit/brokers/test_supervisor.py::test_parent_ended_by_sigkill_sigterm_or_sighup_leaves_no_process_supervisor_or_folder",
        "tests/kit/cli/commands/test_behaviour.py::test_behaviour_of_one_release_lists_every_field_of_the_classes_in_that_release",
        ("tests/kit/answerers/driver/test_answerer.py::"
         "test_driver_that_crashes_or_breaks_the_protocol_at_one_question_loses_only_that_question[dies_mid_line]"),
    ]  # fmt: skip
    changed = {"FORCE_COLOR": "1", "TERM": "dumb", "COLUMNS": "20"}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'own'}", *names],
        cwd=ROOT, env=os.environ | changed, preexec_fn=_hostile, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout
