from __future__ import annotations

import signal
import subprocess
import sys

import pytest

# A run whose first interrupt is lost, as one in a callback of the garbage collector is.
_LOSES_ONE = """
import gc, os, signal, sys, time
from kafka_conformance.core import interrupts
from kafka_conformance.core.interrupts import acknowledge, install

interrupts._AGAIN_S = 0.3
install()

def once(phase, info):
    gc.callbacks.remove(once)
    os.kill(os.getpid(), int(sys.argv[1]))
    for _ in range(1000):
        pass

gc.callbacks.append(once)
try:
    gc.collect()
    print("lost", flush=True)
    time.sleep(20)
    print("never again")
except KeyboardInterrupt:
    acknowledge()
    time.sleep(0.6)
    print("heard once more")
"""


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_that_python_drops_comes_again_until_it_is_heard(asked: signal.Signals) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _LOSES_ONE, str(int(asked))], capture_output=True, text=True, timeout=30, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert ran.stdout.split("\n") == ["lost", "heard once more", ""], ran.stderr
    assert "Exception ignored in" in ran.stderr


def test_a_ctrl_c_that_was_to_be_ignored_is_ignored() -> None:
    script = (
        "from kafka_conformance.core.interrupts import install; import os; install(); os.kill(os.getpid(), 2); print(1)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "1\n")


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_of_a_deferred_block_is_raised_at_its_end(asked: signal.Signals) -> None:
    script = (
        "import os\n"
        "from kafka_conformance.core import interrupts\n"
        "interrupts.install()\n"
        "try:\n"
        "    with interrupts.deferred():\n"
        f"        os.kill(os.getpid(), {int(asked)})\n"
        "        print('whole')\n"
        "    print('never')\n"
        "except KeyboardInterrupt:\n"
        "    interrupts.acknowledge()\n"
        "    print('raised')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert ran.stdout.split() == ["whole", "raised"]
