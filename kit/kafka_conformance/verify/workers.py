"""Worker processes of a verification: each has its own JVM, and verifies one rule in one release at a time.

A worker reads tasks from its standard input and writes results, and the size of each batch that is answered, to its
standard output, as pickles. While its JVM starts, it generates the questions of its first rule. It ends when its standard
input is closed, so also when the parent is killed. Workers do not share a terminal's Ctrl-C: the parent ends them.
"""

from __future__ import annotations

import gc
import io
import logging
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import IO, Any

from kafka_conformance.answerers.names import reference_or_mutant
from kafka_conformance.core import interrupts
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.rule import Rule
from kafka_conformance.oracle.session import open_oracle
from kafka_conformance.rules import RULES
from kafka_conformance.verify.question_store import QuestionStore
from kafka_conformance.verify.reference_digests import AgreedAnswers
from kafka_conformance.verify.verification import RuleResult, VerificationPlan, Verifier
from kafka_jars.scratch import ScratchFolder
from kafka_reference.releases import Release

__all__ = ["VerifierPool", "cores", "open_pool", "worker_count"]

Task = tuple[Rule, Release]

_END_LIMIT_S = 15
_PROGRESS_S = 5.0
# Each release is loaded again and asked for seconds: the optimizing compiler costs more than twice what it saves.
# Large pages save processor time of Kafka's classes, where the system has them: 9 % with record-accumulator in one run.
_JVM_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseTransparentHugePages")
# With Python's 700 allocations between two collections, generating takes 5 % more; 50,000 objects are about 10 MB.
_ALLOCATIONS_PER_COLLECTION = 50_000
# A worker takes up to 3 GiB: its JVM's heap of 2 GiB, and the questions.
_MOST_WORKERS = 4
# Rules that take longest, by measurement: they start first, so that all workers end at about the same time.
_SLOWEST = (
    "producer-sequences",
    "record-accumulator",
    "delivery",
    "producer-send",
    "leader-election",
    "record-batch",
    "broker-producer-state",
    "record-sizes",
)


def worker_count(tasks: int) -> int:
    """Return how many workers to start: one for each core, and none without a task."""
    return min(tasks, cores(), _MOST_WORKERS)


def cores() -> int:
    """Return how many cores this process may use; 1 where the system does not report it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    jvm: str = ""
    release: Release | None = None
    doing: str = ""

    def send(self, message: Any) -> None:
        assert self.process.stdin is not None  # noqa: S101  it was started with a pipe
        try:
            _Pickler(self.process.stdin).dump(message)
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self.lost() from None

    def receive(self) -> Any:
        """Return the next message. Raises what the worker raised."""
        assert self.process.stdout is not None  # noqa: S101  it was started with a pipe
        try:
            message = _Unpickler(self.process.stdout).load()
        except EOFError:
            raise self.lost() from None
        if isinstance(message, BaseException):
            raise message
        return message

    def lost(self) -> KitError:
        return KitError(
            f"a worker of verify ended with code {self.process.wait()}: run the same command again to resume"
        )


class VerifierPool:
    """Verifies tasks in several workers; see :func:`open_pool`."""

    def __init__(self, workers: Sequence[_Worker]) -> None:
        self._workers = workers
        self.jvm = workers[0].jvm
        """The JVM's version and how it was found."""

    def results(self, tasks: Sequence[Task], progress: Steps) -> Iterator[RuleResult]:
        """Verify each task; yield results as they come. Raises KitError or JarError."""
        waiting, started = sorted(tasks, key=_rank), set[str]()
        received: queue.SimpleQueue[tuple[_Worker, Any]] = queue.SimpleQueue()

        def next_task(worker: _Worker) -> None:
            worker.doing = ""
            if waiting:
                rule, worker.release = waiting.pop(_choose(waiting, worker, self._workers, started))
                started.add(rule.slug)
                worker.doing = f"{rule.slug} in {worker.release}"
                worker.send((rule, worker.release))

        for worker in self._workers:
            threading.Thread(target=_receive, args=(worker, received), daemon=True).start()
            next_task(worker)
        left, answered = len(tasks), 0
        while left:
            doing = ", ".join(worker.doing for worker in self._workers if worker.doing)
            progress.doing(f"{doing}, {answered:,} questions answered")
            try:
                worker, message = received.get(timeout=_PROGRESS_S)
            except queue.Empty:
                continue
            if isinstance(message, BaseException):
                raise message
            if isinstance(message, int):
                answered += message
                continue
            next_task(worker)
            yield message
            progress.advance()
            left -= 1


def _receive(worker: _Worker, received: queue.SimpleQueue[tuple[_Worker, Any]]) -> None:
    """Queue the messages of a worker, and what it raises."""
    try:
        while True:
            received.put((worker, worker.receive()))
    except Exception as error:  # noqa: BLE001  the main thread raises it
        received.put((worker, error))


def _rank(task: Task) -> tuple[Release, int]:
    rule, release = task
    return release, _SLOWEST.index(rule.slug) if rule.slug in _SLOWEST else len(_SLOWEST)


def _choose(waiting: Sequence[Task], worker: _Worker, workers: Sequence[_Worker], started: set[str]) -> int:
    """Return the place of a worker's next task.

    First come rules whose questions do not exist yet, then the release that the worker has open, then a release that no
    worker has open.
    """
    open_elsewhere = {other.release for other in workers if other is not worker}

    def cost(place: int) -> tuple[bool, bool, bool, int]:
        rule, release = waiting[place]
        return rule.slug in started, release != worker.release, release in open_elsewhere, place

    return min(range(len(waiting)), key=cost)


@contextmanager
def open_pool(plan: VerificationPlan, actual: str, count: int) -> Iterator[VerifierPool]:
    """Start workers that compare the answerer named ``actual`` with Java; they end with the block. Raises KitError."""
    with ExitStack() as stack:
        folder = stack.enter_context(ScratchFolder())
        workers = [stack.enter_context(_started()) for _ in range(count)]
        largest = dict.fromkeys(rule.slug for rule, _ in sorted(plan.tasks(), key=_rank))
        for worker, slug in zip_longest(workers, islice(largest, count)):
            worker.send((plan, actual, folder, slug))
        for worker in workers:
            worker.jvm = worker.receive()
        yield VerifierPool(workers)


@contextmanager
def _started() -> Iterator[_Worker]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "kafka_conformance.verify.workers"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
    )
    try:
        yield _Worker(process)
    finally:
        interrupts.acknowledge()
        with suppress(OSError):
            process.stdin.close()  # type: ignore[union-attr]
        try:
            process.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()  # type: ignore[union-attr]


class _Pickler(pickle.Pickler):
    """Writes a rule as its slug: a rule holds functions."""

    def persistent_id(self, value: Any) -> Any:
        return value.slug if isinstance(value, Rule) else None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, slug: Any) -> Rule:
        return RULES[slug]


def _work(tasks: queue.SimpleQueue[Any], results: IO[bytes]) -> None:
    """Verify tasks until the parent closes the pipe."""

    def send(message: Any) -> None:
        held = io.BytesIO()
        _Pickler(held).dump(message)
        results.write(held.getbuffer())
        results.flush()

    try:
        plan, actual, folder, first = tasks.get()
        store = QuestionStore(plan, folder)
        generating = threading.Thread(target=_generate, args=(store, first), daemon=True)
        answerer = reference_or_mutant(actual)
        generating.start()
        with open_oracle(options=_JVM_OPTIONS) as oracle:
            agreed = AgreedAnswers(folder) if len(plan.releases) > 1 else None
            verifier = Verifier(oracle, answerer, plan, store.sources, answered=send, agreed=agreed)
            send(verifier.jvm)
            generating.join()
            while True:
                send(verifier.verify(*tasks.get()))
    except Exception as error:  # noqa: BLE001  the parent raises it
        try:
            send(error)
        except (pickle.PicklingError, TypeError, AttributeError):
            send(KitError(f"a worker of verify failed: {type(error).__name__}: {error}"))


def _generate(store: QuestionStore, slug: str | None) -> None:
    """Generate the questions of the first rule; what this raises, the rule's own task raises again."""
    if slug is not None:
        with suppress(Exception):
            store.sources(RULES[slug])


def _read_tasks(pipe: IO[bytes], tasks: queue.SimpleQueue[Any]) -> None:
    """Queue the parent's tasks; interrupt the worker when the parent closes the pipe."""
    with suppress(EOFError, OSError):
        while True:
            tasks.put(_Unpickler(pipe).load())
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Run a worker."""
    interrupts.install()
    gc.freeze()  # modules, functions and rules stay
    gc.set_threshold(_ALLOCATIONS_PER_COLLECTION)
    logging.getLogger().addHandler(logging.NullHandler())  # py4j logs what it also raises
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed text must not mix with the results
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with suppress(KeyboardInterrupt, BrokenPipeError):
        # The interrupt may come as soon as this thread has begun: the parent may have gone already.
        threading.Thread(target=_read_tasks, args=(sys.stdin.buffer, tasks), daemon=True).start()
        _work(tasks, results)
    # The thread still waits for standard input and holds its lock, for which the interpreter's shutdown would wait for ever.
    os._exit(0)


if __name__ == "__main__":
    main()
