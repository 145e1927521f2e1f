"""Whole gates of hostile drivers with default options: each ends within 20 s, and the kit takes less than 200 MB."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

HOSTILE = Path(__file__).parent / "hostile"
LIMIT_S = 20
LIMIT_BYTES = 200_000_000
AT_EVERY_QUESTION = ('asked["question"]["key"] == "bad1"', "True")


pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc"),
]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("duplicate_keys", "duplicate"),
        ("many_digits", "shape"),
        ("deep_nesting", "shape"),
        ("byte_order_mark", "encoding"),
        ("not_utf8", "encoding"),
        ("closes_stdout", "died"),
        ("closes_stdout_always", "died"),
        ("has_children", "died"),
        ("has_daemons", "died"),
        ("long_answers", "long"),
        ("endless_line", "long"),
        ("floods_stderr", "died"),
        ("prints_noise", "noise"),
        ("always_answers_twice", "twice"),
    ],
)
def test_gate_of_hostile_driver_exits_2_within_20_s_and_200_mb(name: str, error: str, tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(
        (HOSTILE / f"{name}.py").read_text(encoding="utf-8").replace(*AT_EVERY_QUESTION), encoding="utf-8"
    )
    begun = time.monotonic()
    kit = _gate(script)
    assert time.monotonic() - begun < LIMIT_S
    assert kit.returncode == 2
    assert f"murmur2 in 4.4.0: {error}" in kit.stdout
    assert "kafka-conformance replay .kafka-conformance/failures/" in kit.stdout
    assert len(kit.stderr.splitlines()) <= 210
    assert int((tmp_path / "peak").read_text()) < LIMIT_BYTES


def test_gate_with_1_mb_driver_answers_exits_1_and_uses_below_200_mb_memory(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    text = (HOSTILE / "long_answers.py").read_text(encoding="utf-8").replace("ZEROS}", '"x" * 1_000_000}')
    script.write_text(text, encoding="utf-8")
    kit = _gate(script)
    assert kit.returncode == 1, kit.stderr
    assert int((tmp_path / "peak").read_text()) < LIMIT_BYTES


def _gate(script: Path) -> subprocess.CompletedProcess[str]:
    """Run a gate of this driver in its folder; the most memory that the kit took is in the file ``peak``, in bytes.

    It is read from ``/proc``: what ``resource`` reports begins with the memory of the process that forked.
    """
    code = (
        "import re, sys\n"
        "from kafka_conformance.cli.main import main\n"
        f"sys.argv[1:] = ['gate', '--rules', 'murmur2', '--seed', '1', '--', sys.executable, {str(script)!r}]\n"
        "try: main()\n"
        "finally:\n"
        "    peak = re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1]\n"
        "    open('peak', 'w').write(str(1024 * int(peak)))\n"
    )
    return subprocess.run([sys.executable, "-c", code], check=False, cwd=script.parent, capture_output=True, text=True)
