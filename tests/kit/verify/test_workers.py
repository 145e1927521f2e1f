"""Worker processes without Java: which task goes where, what a pickle holds, how questions are shared."""

from __future__ import annotations

import io
import queue
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_conformance.core.errors import KitError
from kafka_conformance.core.pipeline import Difference, Tally
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.sources import sources as generated
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_conformance.verify import verification
from kafka_conformance.verify.question_store import QuestionStore
from kafka_conformance.verify.verification import RuleResult, VerificationPlan
from kafka_conformance.verify.workers import VerifierPool, _choose, _generate, _Pickler, _rank, _Unpickler, worker_count
from kafka_reference.releases import parse_release

MURMUR2, SIZES, STICKY = (RULES[slug] for slug in ("murmur2", "record-sizes", "sticky-distribution"))
OLD, NEW = map(parse_release, ("3.9.2", "4.4.0"))


def worker(release: Any = None) -> Any:
    return SimpleNamespace(release=release)


def test_verification_tasks_are_ranked_by_older_release_first_and_then_by_slower_rule() -> None:
    assert [rule for rule, _ in sorted([(MURMUR2, OLD), (SIZES, OLD)], key=_rank)] == [SIZES, MURMUR2]
    assert min([(SIZES, NEW), (MURMUR2, OLD)], key=_rank) == (MURMUR2, OLD)


def test_worker_prefers_rules_whose_questions_are_not_generated_yet() -> None:
    mine, other = worker(), worker(OLD)
    waiting = [(MURMUR2, OLD), (SIZES, OLD), (MURMUR2, NEW)]
    assert waiting[_choose(waiting, mine, [mine, other], {"murmur2"})] == (SIZES, OLD)


def test_worker_prefers_tasks_of_the_release_already_open_then_of_one_open_in_no_other_worker() -> None:
    mine, other = worker(NEW), worker(OLD)
    waiting = [(MURMUR2, OLD), (SIZES, OLD), (SIZES, NEW)]
    started = {"murmur2", "record-sizes"}
    assert waiting[_choose(waiting, mine, [mine, other], started)] == (SIZES, NEW)
    waiting = [(MURMUR2, OLD), (SIZES, parse_release("4.3.0"))]
    assert waiting[_choose(waiting, mine, [mine, other], started)] == waiting[1]
    assert _choose(waiting[:1], mine, [mine, other], started) == 0, "no worker is idle while a task waits"


class Scripted:
    """A worker that says what it is told to, one list of messages for each task; the last one stays silent."""

    def __init__(self, *messages: Sequence[Any]) -> None:
        self.jvm, self.release, self.doing, self.tasks = "", None, "", list[Any]()
        self._messages, self._said = iter(messages), queue.SimpleQueue[Any]()

    def send(self, task: Any) -> None:
        self.tasks.append(task)
        for message in next(self._messages):
            self._said.put(message)

    def receive(self) -> Any:
        message = self._said.get()
        if isinstance(message, BaseException):
            raise message
        return message


def test_worker_progress_shows_number_of_questions_answered(capsys: pytest.CaptureFixture[str]) -> None:
    worker: Any = Scripted([700, 1300, "first"], [5, "second"])
    pool: Any = VerifierPool([worker])
    progress: Any = Steps("verify", 2)
    titles = list[str]()
    progress.doing = titles.append
    assert list(pool.results([(MURMUR2, OLD), (SIZES, OLD)], progress)) == ["first", "second"]
    assert [rule.slug for rule, _ in worker.tasks] == ["record-sizes", "murmur2"]
    assert titles[2] == "record-sizes in 3.9.2, 2,000 questions answered"
    assert titles[-1] == "murmur2 in 3.9.2, 2,005 questions answered"
    assert progress.done == 2


def test_error_of_one_worker_ends_the_run_without_waiting_for_others() -> None:
    workers: Any = [Scripted([]), Scripted([1, KitError("lost")])]
    pool = VerifierPool(workers)
    with pytest.raises(KitError, match="lost"):
        list(pool.results([(MURMUR2, OLD), (SIZES, OLD)], Steps("verify", 2)))


def test_failed_question_generation_is_not_raised_in_the_background() -> None:
    asked = list[Any]()

    def fail(rule: Any) -> Any:
        asked.append(rule)
        raise ValueError("planted")

    store: Any = SimpleNamespace(sources=fail)
    _generate(store, "murmur2")
    _generate(store, None)
    assert asked == [MURMUR2]


def test_worker_count_is_at_most_task_count_core_count_and_4(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, most in ((1, 1), (2, 2), (64, 4)):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, count=cores: range(count))
        assert [worker_count(tasks) for tasks in (0, 1, 100)] == [0, 1, most]


def test_unpickled_rule_result_refers_to_the_registered_rule() -> None:
    counts = Tally(MURMUR2, Counter(a=1), differences=[Difference(Murmur2Question("61"), {"hash": 1}, {"hash": 2})])
    result = RuleResult(NEW, counts, (), "ab", True)
    pipe = io.BytesIO()
    _Pickler(pipe).dump(result)
    pipe.seek(0)
    received = _Unpickler(pipe).load()
    assert received == result
    assert received.tally.rule is MURMUR2


@pytest.mark.parametrize("rule", [MURMUR2, STICKY], ids=lambda rule: rule.slug)
def test_questions_of_a_rule_are_generated_once_for_all_workers(
    rule: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = VerificationPlan([rule], [OLD, NEW], 50, 7, -1)
    first = QuestionStore(plan, tmp_path).sources(rule)
    assert list(first) == generated(rule, plan.examples_of(rule), 7)
    monkeypatch.setattr(verification, "sources", lambda *_: pytest.fail("generated again"))
    assert list(QuestionStore(plan, tmp_path).sources(rule)) == list(first)


def test_question_store_for_one_release_writes_no_files(tmp_path: Path) -> None:
    QuestionStore(VerificationPlan([MURMUR2], [NEW], 10, 7, -1), tmp_path).sources(MURMUR2)
    assert list(tmp_path.iterdir()) == []


def test_worker_interrupted_after_parent_exit_ends_silently_with_code_0() -> None:
    script = (
        "import threading, kafka_conformance.verify.workers as workers\n"
        "def start(thread): raise KeyboardInterrupt\n"
        "threading.Thread.start = start\n"
        "workers.main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
