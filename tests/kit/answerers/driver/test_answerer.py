"""Drivers that break the protocol, each told apart and told what to hint; and drivers that do not, however odd."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from processes import accept_interrupts, is_gone

from kafka_conformance.answerers.driver.answerer import BATCH, DriverAnswerer
from kafka_conformance.answerers.driver.connection import Command, Limits
from kafka_conformance.answerers.driver.process import SHOWN_LINES
from kafka_conformance.answerers.driver.protocol_errors import HINTS, one_line
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.errors import TargetLost
from kafka_conformance.core.protocol import Answered, Failed, Lost, Outcome, Unsupported
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_reference.releases import parse_release

HOSTILE = Path(__file__).parent / "hostile"
NEWEST = parse_release("4.4.0")
KEYS = ["00", "0011", "bad1", "001122", ""]  # `bad1` is what a hostile driver breaks at
QUICK = Limits(hello_s=20, batch_s=20, ending_s=0.2)
IMPATIENT = Limits(hello_s=20, batch_s=1.5, ending_s=0.2)

# What is seen before the first question.
OPENING = [
    ("never_says_hello", "mute", "the driver sent no hello within 0.5 s"),
    ("says_hello_at_the_end", "unflushed", "the driver sent no hello within 0.5 s, but did after its input was closed"),
    ("speaks_protocol_2", "version", "the driver speaks protocol 2, not 1"),
    ("hello_without_rules", "hello",
     "the driver's hello does not match protocol 1: Object missing required field `rules` - at `$.hello`"),
    ("hello_of_no_rule", "hello", "the driver's hello names an unknown rule: murmur-2"),
    ("answers_before_hello", "hello",
     'the driver\'s first line is not a hello: {"id": "q1", "answer": {"hash": 1}}'),
    ("greets_people", "noise",
     r"the driver wrote a line to standard output that is not JSON: Welcome to my \x1b[31mdriver\x1b[0m!"),
    ("ends_before_hello", "died",
     ("the driver ended with exit code 1 before its hello; standard error: "
      r"ModuleNotFoundError: No module named 'kafka'\x1b]0;owned\x07")),
]  # fmt: skip

# What is seen at one question of several.
MIDWAY = [
    ("hangs", "hangs", "the driver did not answer a question of murmur2 within 1.5 s"),
    ("prints_noise", "noise",
     "the driver wrote a line to standard output that is not JSON: looking at {'key': 'bad1'}"),
    ("lays_out_json", "indented", "the driver wrote a line that begins an object and does not end it: {"),
    ("answers_infinity", "nan",
     ("the driver wrote -Infinity, which is not a number in JSON: "
      '{"id": "q3", "answer": {"hash": -Infinity}}')),
    ("prints_after_answering", "noise", "the driver wrote a line to standard output that is not JSON: done"),
    ("answers_twice", "twice", "the driver answered a question twice, the one with the id q3"),
    ("answers_another_id", "stranger", "the driver answered an unknown id: mine"),
    ("answers_a_number", "shape",
     ("the driver wrote a line that is not an answer (Expected `str`, got `int` - at `$.id`): "
     '{"id": 17, "answer": {"hash": 4}}')),
    ("answers_a_list", "shape",
     ("the driver wrote a line that is not an answer (Expected `object`, got `array` - at `$.answer`): "
      '{"id": "q3", "answer": [1]}')),
    ("two_outcomes", "shape",
     'the driver wrote a line with answer and failed in it: {"id": "q3", "answer": {}, "failed": "broke"}'),
    ("no_outcome", "shape", 'the driver wrote a line with no outcome in it: {"id": "q3"}'),
    ("says_a_word", "shape", 'the driver wrote JSON that is not an object: "ready"'),
    ("big_integer", "shape", "the driver wrote 9007199254740993, which is beyond ±2^53 and must be a string"),
    ("duplicate_keys", "duplicate",
     ("the driver wrote an object with the field hash twice: "
      '{"id": "q3", "answer": {"hash": 1, "hash": 8}}')),
    ("many_digits", "shape",
     f"the driver wrote {'7' * 20}… (5,000 characters), which is beyond ±2^53 and must be a string"),
    ("deep_nesting", "shape", "the driver wrote JSON that is nested deeper than 100 levels"),
    ("byte_order_mark", "encoding",
     r'the driver wrote a line that begins with a byte order mark: \ufeff{"id": "q3", "answer": {"hash": 4}}'),
    ("not_utf8", "encoding", 'the driver wrote a line that is not UTF-8: {"id": "q3", "failed": "na�ve"}'),
    ("endless_line", "long", f"the driver wrote a line of more than 1,048,576 bytes: {'x' * 160}…"),
    ("floods_stderr", "died",
     ("the driver ended with exit code 1 before it had answered everything; standard error: "
      "IndexError: no such table")),
    ("dies_by_exit", "died",
     ("the driver ended with exit code 1 before it had answered everything; standard error: "
      "no such table")),
    ("dies_by_signal", "died", "the driver ended by SIGKILL before it had answered everything"),
    ("dies_mid_line", "died", "the driver ended with exit code 3 before it had answered everything"),
    ("closes_stdout", "died", "the driver closed its standard output before it had answered everything"),
]  # fmt: skip


def hostile(name: str, limits: Limits = QUICK, shown: list[str] | None = None) -> DriverAnswerer:
    show = (shown if shown is not None else []).append
    return DriverAnswerer(Command((sys.executable, str(HOSTILE / f"{name}.py")), show=show), limits)


def driver(code: str, limits: Limits = QUICK) -> DriverAnswerer:
    return DriverAnswerer(Command((sys.executable, "-c", code), show=lambda _: None), limits)


def ask(answerer: DriverAnswerer, keys: Sequence[str] = KEYS, rule: str = "murmur2") -> list[Outcome]:
    return answerer.answer(RULES[rule], NEWEST, [Murmur2Question(key) for key in keys])


def right(key: str) -> Outcome:
    return Answered({"hash": len(key)})


def harmless(text: str) -> bool:
    return text.isprintable() and len(text) < 600


@pytest.mark.parametrize(("name", "error", "what"), OPENING, ids=[name for name, _, _ in OPENING])
def test_driver_without_a_valid_hello_raises_target_lost_with_hint(name: str, error: str, what: str) -> None:
    hello_s = 0.5 if " 0.5 s" in what else 20
    with pytest.raises(TargetLost) as raised:
        hostile(name, Limits(hello_s=hello_s, ending_s=5 if error == "unflushed" else 0.3))
    assert (raised.value.error, raised.value.what, raised.value.hint) == (error, what, HINTS[error])
    assert str(raised.value) == f"{what}: {HINTS[error]}"
    assert harmless(str(raised.value))


@pytest.mark.parametrize("command", [("no-such-driver-anywhere",), (str(HOSTILE),), ("",), ("nul\0",)])
def test_driver_command_that_cannot_be_started_raises_target_lost(command: tuple[str, ...]) -> None:
    with pytest.raises(TargetLost, match="cannot be started: ") as raised:
        DriverAnswerer(Command(command))
    assert (raised.value.error, raised.value.hint) == ("unstartable", HINTS["unstartable"])
    assert harmless(str(raised.value))


@pytest.mark.parametrize(("name", "error", "what"), MIDWAY, ids=[name for name, _, _ in MIDWAY])
def test_driver_that_crashes_or_breaks_the_protocol_at_one_question_loses_only_that_question(
    name: str, error: str, what: str
) -> None:
    with hostile(name, IMPATIENT if error == "hangs" else QUICK) as answerer:
        outcomes = ask(answerer)
        lost = outcomes[2]
        assert lost == Lost(error, what, HINTS[error])
        assert harmless(one_line(lost))
        assert [*outcomes[:2], *outcomes[3:]] == [right(key) for key in KEYS if key != "bad1"]


def test_every_protocol_error_has_a_hostile_driver_and_unique_hint() -> None:
    met = {error for _, error, _ in (*OPENING, *MIDWAY)} | {"unstartable"}
    assert met == set(HINTS)
    assert len(set(HINTS.values())) == len(HINTS)


def test_every_hostile_driver_script_is_used_by_a_test() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{path.stem}"' in source for path in HOSTILE.glob("*.py"))


def test_driver_that_does_not_flush_is_reported_as_unflushed_not_hanging() -> None:
    with hostile("forgets_to_flush", Limits(hello_s=20, batch_s=0.3, ending_s=5, hangs=2)) as answerer:
        outcomes = ask(answerer)
    said = "the driver did not answer {} of murmur2 within 0.3 s, but did after its input was closed"
    assert outcomes[0] == Lost("unflushed", said.format("a question"), HINTS["unflushed"])
    assert all(isinstance(one, Lost) and "it was not asked any more" in one.what for one in outcomes[1:])


def test_driver_that_never_reads_stdin_is_reported_as_hanging() -> None:
    with hostile("never_reads", Limits(hello_s=20, batch_s=0.3, ending_s=0.1, hangs=1)) as answerer:
        outcomes = ask(answerer, ["00" * 5000] * 100)  # far more than a pipe holds
    assert {one.error for one in outcomes if isinstance(one, Lost)} == {"hangs"}
    assert len(outcomes) == 100


def test_driver_that_breaks_the_protocol_is_not_asked_after_the_limit_of_three_restarts() -> None:
    with hostile("always_answers_twice", Limits(hello_s=20, batch_s=20, restarts=3)) as answerer:
        outcomes = ask(answerer, ["00"] * 9)
        assert all(isinstance(one, Lost) and one.error == "twice" for one in outcomes)
        given_up = outcomes[-1]
        assert isinstance(given_up, Lost)
        assert given_up.what.endswith("; after 3 restarts over murmur2 it was not asked any more")
        assert ask(answerer, ["00"]) == [given_up]


def test_driver_restarts_are_limited_over_all_rules_together() -> None:
    code = (HOSTILE / "dies_by_exit.py").read_text().replace('["murmur2"]', '["murmur2", "sequence-increment"]')
    code = code.replace('asked["question"]["key"] == "bad1"', "True")
    rule = RULES["sequence-increment"]
    questions = [rule.question(sequence=each, by=1) for each in range(5)]  # type: ignore[call-arg]
    with driver(code, Limits(hello_s=20, batch_s=20, all_restarts=4)) as answerer:
        assert all(isinstance(one, Lost) for one in ask(answerer, ["00"] * 9))
        outcomes = answerer.answer(rule, NEWEST, questions)  # one start is left to it
    first, second, *_, last = outcomes
    assert isinstance(first, Lost)
    assert isinstance(second, Lost)
    assert isinstance(last, Lost)
    assert (first.asked, second.asked, last.asked) == (True, False, False)
    assert last.what.endswith("; after 5 restarts over all rules it was not asked any more")


def test_driver_restarts_stop_after_the_time_limit() -> None:
    begun = time.monotonic()
    with hostile("closes_stdout_always", Limits(hello_s=20, batch_s=20, restarting_s=1)) as answerer:
        outcomes = ask(answerer, ["00"] * 99)
    assert time.monotonic() - begun < 5
    last = outcomes[-1]
    assert isinstance(last, Lost)
    assert last.what == (
        "the driver closed its standard output before it had answered everything; "
        "after 1 s of restarts over all rules it was not asked any more"
    )


def test_question_value_that_crashes_the_driver_loses_only_questions_with_that_value() -> None:
    code = PREFACE.replace('"murmur2"', '"partition-for-key"') + (
        "tell(line(HELLO))\n"
        "for text in sys.stdin:\n"
        "  asked = json.loads(text)\n"
        "  if asked['question']['key'] == '': raise IndexError('no key')\n"
        "  tell(line({'id': asked['id'], 'answer': {'partition': 0}}))"
    )
    rule = RULES["partition-for-key"]
    keys = [*[""] * 40, *["00", "", "11"] * 20]
    questions = [rule.question(key=key, partitions=n) for n, key in enumerate(keys, 1)]  # type: ignore[call-arg]
    with driver(code, Limits(hello_s=20, batch_s=20, restarts=8)) as answerer:
        outcomes = answerer.answer(rule, NEWEST, questions)
    assert [isinstance(one, Lost) for one in outcomes] == [key == "" for key in keys]
    assert any(isinstance(one, Lost) and one.asked for one in outcomes)


def test_after_300_questions_crash_the_driver_fewer_than_60_of_600_others_are_lost() -> None:
    code = PREFACE + (
        "tell(line(HELLO))\n"
        "for text in sys.stdin:\n"
        "  if len(json.loads(text)['question']['key']) > 8: raise IndexError('too long')\n"  # each value is another one
        "  tell(answered(text))"
    )
    keys = [*(f"{n:010x}" for n in range(300)), *(f"{n:04x}" for n in range(600))]
    with driver(code, Limits(hello_s=20, batch_s=20)) as answerer:
        outcomes = ask(answerer, keys)
        lost = [isinstance(one, Lost) for one in outcomes]
        assert lost[:300] == [True] * 300
        assert sum(lost[300:]) < 60
        again = ask(answerer, ["ffff"])
    assert isinstance(again[0], Answered)


def test_questions_similar_to_consecutive_driver_crashes_are_skipped() -> None:
    code = PREFACE + "tell(line(HELLO))\nfor text in sys.stdin: raise IndexError('never')"
    with driver(code, Limits(hello_s=20, batch_s=20, in_a_row=2)) as answerer:
        outcomes = ask(answerer, [f"{n:04x}" for n in range(9)])
    assert [isinstance(one, Lost) and one.asked for one in outcomes] == [True] * 2 + [False] * 7
    last = outcomes[-1]
    assert isinstance(last, Lost)
    assert last.what.endswith("; after 2 such questions in a row the others like them were not asked")


def test_driver_answers_above_the_memory_limit_lose_the_remaining_questions_of_the_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOSTILE_ZEROS", "1000")
    with hostile("long_answers", Limits(hello_s=20, batch_s=20, room=200_000, room_each=0)) as answerer:
        outcomes = ask(answerer, ["00"] * 9)
        later = ask(answerer, ["11"])
    kinds = [type(one) for one in outcomes]
    assert kinds == [Answered] * 2 + [Lost] * 7
    lost = outcomes[2]
    assert isinstance(lost, Lost)
    assert (lost.error, lost.asked) == ("long", True)
    assert lost.what.startswith("the driver's answers to murmur2 are too long: ")
    assert isinstance(later[0], Lost)
    assert not later[0].asked


def test_driver_stderr_lines_shown_over_all_restarts_are_limited_in_number() -> None:
    shown: list[str] = []
    with hostile("floods_stderr", shown=shown) as answerer:
        ask(answerer, ["00", "bad1", "bad1", "11"])
    assert len(shown) == SHOWN_LINES
    assert shown[-1] == "(further lines are not shown)"


def test_driver_that_crashes_on_one_rule_is_restarted_and_answers_another_rule() -> None:
    code = (HOSTILE / "dies_by_exit.py").read_text().replace('["murmur2"]', '["murmur2", "sequence-increment"]')
    code = code.replace('asked["question"]["key"] == "bad1"', 'asked["rule"] == "murmur2"').replace(
        '{"hash": len(asked["question"]["key"])}', '{"sequence": 0}'
    )
    rule = RULES["sequence-increment"]
    question = rule.question(sequence=1, by=1)  # type: ignore[call-arg]
    with driver(code, Limits(hello_s=20, batch_s=20, restarts=2)) as answerer:
        for _ in range(4):  # restarts are counted against the rule that made them necessary
            assert all(isinstance(one, Lost) for one in ask(answerer, ["00"]))
            assert answerer.answer(rule, NEWEST, [question]) == [Answered({"sequence": 0})]


def test_driver_crash_that_does_not_recur_on_retry_loses_one_question_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTILE_MARK", str(tmp_path / "mark"))
    with hostile("dies_once") as answerer:
        outcomes = ask(answerer)
    first = outcomes[0]
    assert isinstance(first, Lost)
    assert (
        first.what
        == "the driver ended with exit code 5 before it had answered everything; asked again, it did not do so"
    )
    assert outcomes[1:] == [right(key) for key in KEYS[1:]]


def test_crashes_in_two_batches_lose_only_the_two_questions_at_fault() -> None:
    keys = ["0011"] * (2 * BATCH + 10)
    bad = {5, BATCH + 7}
    for at in bad:
        keys[at] = "bad1"
    with hostile("dies_by_signal", Limits(hello_s=20, batch_s=20)) as answerer:
        outcomes = ask(answerer, keys)
    assert {at for at, one in enumerate(outcomes) if isinstance(one, Lost)} == bad
    assert all(one == right("0011") for at, one in enumerate(outcomes) if at not in bad)


def test_duplicate_answer_to_the_last_question_is_reported_at_finish() -> None:
    with hostile("answers_twice") as answerer:
        ask(answerer, ["00", "bad1"])
        reported = answerer.finish()
        assert reported == Lost("twice", "the driver answered a question twice, the one with the id q2", HINTS["twice"])
    with hostile("well_behaved") as answerer:
        ask(answerer, ["00"])
        assert answerer.finish() is None
        assert answerer.finish() is None


def test_non_json_line_after_every_answer_loses_the_second_question_but_not_the_first() -> None:
    code = (HOSTILE / "prints_after_answering.py").read_text().replace('asked["question"]["key"] == "bad1"', "True")
    noise = Lost("noise", "the driver wrote a line to standard output that is not JSON: done", HINTS["noise"])
    with driver(code) as answerer:
        outcomes = ask(answerer)
        assert outcomes[:2] == [right(KEYS[0]), noise]
        last = answerer.finish()
    assert noise in (last, *outcomes[2:])


def test_late_duplicate_answer_loses_the_question_asked_meanwhile() -> None:
    with hostile("answers_twice") as answerer:
        assert ask(answerer, ["bad1"]) == [Answered({"hash": 8})]
        lost, other = ask(answerer, ["00", "11"])
        said = "the driver answered a question twice, the one with the id q1; asked again, it did not do so"
        assert lost == Lost("twice", said, HINTS["twice"])
        assert other == right("11")


def test_duplicate_answer_written_at_driver_exit_is_reported_with_error_twice_at_finish() -> None:
    late = (HOSTILE / "well_behaved.py").read_text() + '\nsay({"id": "q1", "answer": {"hash": 2}})\n'
    with driver(late) as answerer:
        assert ask(answerer, ["00"]) == [right("00")]
        reported = answerer.finish()
    assert reported is not None
    assert reported.error == "twice"


PREFACE = """
import json, sys, time
out = sys.stdout.buffer
def line(fields, end=b"\\n"): return json.dumps(fields).encode() + end
def tell(data): out.write(data); out.flush()
def answered(text, end=b"\\n"):
    asked = json.loads(text)
    return line({"id": asked["id"], "answer": {"hash": len(asked["question"]["key"])}}, end)
HELLO = {"hello": {"protocol": 1, "name": "odd", "version": "1", "language": "python", "rules": ["murmur2"]}}
sys.stdin.readline()
"""
FIVE = "[sys.stdin.readline() for _ in range(5)]"
EACH = "for text in sys.stdin:"
ODD = {
    "out of order": f"tell(line(HELLO))\nfor text in reversed({FIVE}): tell(answered(text))",
    "slowly": f"tell(line(HELLO))\n{EACH} time.sleep(0.05); tell(answered(text))",
    "in one chunk": f"tell(line(HELLO))\ntell(b''.join(map(answered, {FIVE}))); sys.stdin.read()",
    "byte by byte": f"for one in line(HELLO): tell(bytes([one]))\n{EACH}\n  for one in answered(text): tell(bytes([one]))",
    "with CRLF": f"tell(line(HELLO, b'\\r\\n'))\n{EACH} tell(answered(text, b'\\r\\n'))",
    "with empty lines": f"tell(b'\\n\\r\\n' + line(HELLO))\n{EACH} tell(b'\\n' + answered(text))",
    "without the last end": f"tell(line(HELLO))\ntell(b''.join(map(answered, {FIVE})).rstrip())",
    "with much on standard error": f"tell(line(HELLO))\n{EACH} sys.stderr.write('x' * 200_000); tell(answered(text))",
}


@pytest.mark.parametrize("how", ODD)
def test_driver_answers_out_of_order_slow_in_chunks_or_with_crlf_are_accepted(how: str) -> None:
    with driver(PREFACE + ODD[how], Limits(hello_s=20, batch_s=20)) as answerer:
        assert ask(answerer) == [right(key) for key in KEYS]
        assert answerer.finish() is None


def test_driver_description_is_taken_from_the_sanitized_hello() -> None:
    hello = {"name": "x\x1b[2J", "version": "1.2", "language": "go", "grades": {"murmur2": "statistical"}}
    code = f"{PREFACE}\nHELLO['hello'].update({hello!r}); tell(line(HELLO)); sys.stdin.read()"
    with driver(code) as answerer:
        assert (answerer.description.name, answerer.name) == (r"x\x1b[2J", r"x\x1b[2J")
        assert (answerer.description.version, answerer.description.language) == ("1.2", "go")
        assert answerer.description.command.startswith(f"{sys.executable} -c ")
        assert harmless(answerer.description.command)
        assert answerer.rules == {"murmur2"}
        assert answerer.grades == {"murmur2": "statistical"}


def test_unsupported_and_failed_driver_replies_become_outcomes_with_sanitized_and_shortened_text() -> None:
    code = PREFACE + (
        "tell(line(HELLO))\n"
        "for text, more in zip(sys.stdin, ({'unsupported': 'no \\x1b[1mmurmur'}, {'failed': 'x' * 999})):\n"
        "  tell(line({'id': json.loads(text)['id'], **more}))"
    )
    with driver(code) as answerer:
        assert ask(answerer, ["00", "11"]) == [Unsupported(r"no \x1b[1mmurmur"), Failed(f"{'x' * 160}…")]
        assert ask(answerer, ["00"], rule="partition-for-key") == [
            Unsupported("the driver's hello does not name partition-for-key")
        ]
        assert ask(answerer, []) == []


def test_driver_stderr_is_shown_with_escape_sequences_sanitized() -> None:
    shown: list[str] = []
    with pytest.raises(TargetLost):
        hostile("ends_before_hello", shown=shown)
    assert shown == ["about to import", r"ModuleNotFoundError: No module named 'kafka'\x1b]0;owned\x07"]


def test_child_processes_of_a_crashed_driver_are_ended() -> None:
    shown: list[str] = []
    with hostile("has_children", Limits(hello_s=20, batch_s=20, ending_s=0.3), shown) as answerer:
        (lost,) = ask(answerer, ["00"])
    assert isinstance(lost, Lost)
    assert lost.what.startswith("the driver ended with exit code 4 ")  # though its pipes are open still
    assert shown
    assert all(is_gone(int(pid)) for pid in shown)


def test_daemon_processes_in_another_session_are_ended_with_the_driver() -> None:
    shown: list[str] = []
    begun = time.monotonic()
    with hostile("has_daemons", QUICK, shown) as answerer:
        (lost,) = ask(answerer, ["00"])
    assert isinstance(lost, Lost)
    assert time.monotonic() - begun < 8  # though they hold its pipes
    assert len(set(shown)) == len(shown) >= 4  # two for each start
    assert all(is_gone(int(pid)) for pid in shown)


_INTERRUPTED = """
import sys
from kafka_conformance.core import interrupts
from kafka_conformance.answerers.driver.answerer import DriverAnswerer
from kafka_conformance.answerers.driver.connection import Command
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_reference.releases import parse_release

interrupts.install()
CODE = '''import json, os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdin.readline()
hello = {"protocol": 1, "name": "x", "version": "", "language": "", "rules": ["murmur2"]}
print(json.dumps({"hello": hello}), flush=True)
sys.stdin.readline()  # a question: the kit is waiting for the answer, within its with
print(os.getpid(), file=sys.stderr, flush=True)
time.sleep(600)'''
try:
    with DriverAnswerer(Command((sys.executable, "-c", CODE), show=lambda pid: print(pid, flush=True))) as answerer:
        answerer.answer(RULES["murmur2"], parse_release("4.4.0"), [Murmur2Question("00")])
except KeyboardInterrupt:
    import signal
    print(signal.getitimer(signal.ITIMER_REAL), flush=True)
    raise
"""


@pytest.mark.parametrize("asked", [signal.SIGINT, signal.SIGTERM])
def test_driver_process_ends_when_the_gate_gets_sigint_or_sigterm(asked: signal.Signals) -> None:
    kit = subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=accept_interrupts,
    )  # fmt: skip
    assert kit.stdout is not None
    pid = int(kit.stdout.readline())
    os.kill(pid, 0)
    kit.send_signal(asked)
    said, errors = kit.communicate(timeout=30)
    assert said == "(0.0, 0.0)\n"  # it does not come again: it was heard
    assert "KeyboardInterrupt" in errors
    assert is_gone(pid)


def test_driver_that_reads_stdin_ends_when_the_gate_process_is_killed() -> None:
    script = _INTERRUPTED.replace("time.sleep(600)", "sys.stdin.read()")
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as kit:
        assert kit.stdout is not None
        pid = int(kit.stdout.readline())
        kit.kill()
    assert is_gone(pid)


def test_answer_command_as_driver_gives_the_answers_of_the_reference() -> None:
    command = (sys.executable, "-m", "kafka_conformance", "answer", "--as", "reference")
    with DriverAnswerer(Command(command), Limits(hello_s=60, batch_s=60)) as answerer:
        assert answerer.name == "kafka-conformance reference"
        assert answerer.rules == set(RULES)
        assert ask(answerer, ["666f6f", ""]) == [Answered({"hash": 597841616}), Answered({"hash": 275646681})]
        for rule in RULES.values():
            questions = list(islice(rule.spaces[0].questions(), 0, 60, 20))
            assert answerer.answer(rule, NEWEST, questions) == ReferenceAnswerer().answer(rule, NEWEST, questions)
        old = answerer.answer(RULES["murmur2"], parse_release("0.9.0.1"), [Murmur2Question("00")])
        assert old == [Unsupported("murmur2 is not a rule of release 0.9.0.1")]
        assert answerer.finish() is None


def test_question_ids_in_driver_lines_are_unique_over_batches() -> None:
    """A driver gets them as they are in its lines: strings, each once."""
    code = (
        PREFACE
        + "tell(line(HELLO))\nfor text in sys.stdin: print(json.loads(text)['id'], file=sys.stderr); tell(answered(text))"
    )
    shown: list[str] = []
    with DriverAnswerer(Command((sys.executable, "-c", code), show=shown.append), QUICK) as answerer:
        ask(answerer)
        ask(answerer)
        answerer.finish()
    assert len(set(shown)) == 10
    assert all(re.fullmatch(r"q[0-9]+", name) for name in shown)
