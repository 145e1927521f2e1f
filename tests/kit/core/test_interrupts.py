from __future__ import annotations

import signal

import pytest
from processes import run_script

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


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt_swallowed_in_a_gc_callback_is_raised_again(asked: signal.Signals) -> None:
    ran = run_script(_LOSES_ONE, str(int(asked)))
    assert ran.stdout.split("\n") == ["lost", "heard once more", ""], ran.stderr
    assert ran.stderr == "", "what Python drops and the kit raises again is not printed"


def test_unraisable_value_error_is_printed_once_after_two_interrupt_handler_installs() -> None:
    ran = run_script(
        "from kafka_conformance.core import interrupts; interrupts.install(); interrupts.install()\n"
        "class Ends:\n    def __del__(self): raise ValueError('dropped')\n"
        "Ends()\n"
    )
    assert ran.returncode == 0
    assert ran.stderr.count("ValueError: dropped") == 1


def test_child_exit_code_is_read_despite_inherited_ignored_sigchld() -> None:
    script = (
        "from kafka_conformance.core import interrupts; import subprocess, sys; interrupts.install()\n"
        "print(subprocess.run([sys.executable, '-c', 'raise SystemExit(7)']).returncode)"
    )
    ran = run_script(script, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert ran.stdout == "7\n", ran.stderr


def test_cli_refuses_a_system_without_posix_signals_with_one_line_and_exit_code_2() -> None:
    script = (
        "import signal; del signal.SIGALRM, signal.setitimer, signal.SIGCHLD\n"
        "from kafka_conformance.__main__ import main; main()"
    )
    ran = run_script(script)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert (
        ran.stderr
        == "kafka-conformance: the command line needs a POSIX system such as Linux; on Windows, run it in WSL\n"
    )


_INTERRUPTED_IMPORT = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == MODULE:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
from kafka_conformance.__main__ import main
sys.argv[1:] = ["rules"]
main()
"""


@pytest.mark.parametrize(
    "module", ["kafka_conformance.cli.main", "click", "kafka_conformance.cli.commands.rules", "rich.console"]
)
def test_ctrl_c_during_imports_exits_2_with_one_line(module: str) -> None:
    ran = run_script(_INTERRUPTED_IMPORT.replace("MODULE", repr(module)))
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    assert ran.stderr == "kafka-conformance: interrupted: nothing was judged to the end\n"


def test_second_ctrl_c_during_shutdown_exits_2_with_one_line() -> None:
    script = (
        "import os, signal, sys\n"
        "from kafka_conformance.core import interrupts\n"
        "from kafka_conformance.__main__ import main\n"
        "from kafka_conformance.cli import main as cli\n"
        "before, count = interrupts.acknowledge, []\n"
        "def again():\n"
        "    before()\n"
        "    count.append(1)\n"
        "    if len(count) == 1: os.kill(os.getpid(), signal.SIGINT)\n"
        "interrupts.acknowledge = again\n"
        "cli._load = lambda name: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.argv[1:] = ['rules']\n"
        "main()\n"
    )
    ran = run_script(script)
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    assert ran.stderr == "kafka-conformance: interrupted: nothing was judged to the end\n"


def test_ctrl_c_stays_ignored_if_sigint_was_ignored_at_start() -> None:
    script = (
        "from kafka_conformance.core.interrupts import install; import os; install(); os.kill(os.getpid(), 2); print(1)"
    )
    ran = run_script(script, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert (ran.returncode, ran.stdout) == (0, "1\n")


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_in_deferred_block_is_raised_at_the_end(asked: signal.Signals) -> None:
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
    ran = run_script(script)
    assert (ran.returncode, ran.stdout.split()) == (0, ["whole", "raised"]), ran.stderr


def test_interrupts_restore_installs_the_kit_sigint_handler_again_after_a_replacement() -> None:
    script = (
        "import os, signal; from kafka_conformance.core import interrupts; interrupts.install();"
        "signal.signal(signal.SIGINT, lambda *_: print('replaced')); interrupts.restore()\n"
        "try:\n  with interrupts.explained('run it again'):\n    os.kill(os.getpid(), 2)\n"
        "except KeyboardInterrupt as end:\n  print(end)"
    )
    ran = run_script(script)
    assert (ran.stdout, ran.stderr) == ("run it again\n", "")


def test_restore_without_install_keeps_sigint_handler_of_the_caller() -> None:
    script = (
        "import os, signal; from kafka_conformance.core import interrupts;"
        "signal.signal(signal.SIGINT, lambda *_: print('mine')); interrupts.restore(); os.kill(os.getpid(), 2)"
    )
    ran = run_script(script)
    assert ran.stdout == "mine\n"
