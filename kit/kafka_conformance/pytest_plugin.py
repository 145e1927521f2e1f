"""For the tests of a Python implementation: ``assert_conforms`` in a test, and pytest shows what differs.

::

    from kafka_conformance.pytest_plugin import assert_conforms

    def test_partitions_like_java():
        assert_conforms(answerer, "partition-for-key")

or with the fixture of the same name, which takes seed, examples and known failures from pytest's command line
(``--kafka-seed``, ``--kafka-examples``, ``--kafka-known-failures``). ``answerer`` is called with a rule, a release and a
question, ``{"key": "666f6f", "partitions": 12}`` for one, and gives the answer, ``{"partition": 4}``; None says that it
has none. What is asked is what ``kafka-conformance gate`` asks: the frozen cases, then fresh questions. The strategies
behind these are in ``kafka_conformance.strategies``.

The fixture ``kafka_broker`` is a real broker, one for the whole session, empty at first. Its ``bootstrap`` is where clients
find it, ``create_topic("orders", 12)`` makes a topic (see :mod:`kafka_conformance.brokers.broker`)::

    def test_it_arrives(kafka_broker):
        producer = Producer({"bootstrap.servers": kafka_broker.bootstrap})

``--kafka-broker`` names an exact release, ``--kafka-broker-engine`` Docker or jars. Where no broker can be had, the tests
that ask for it fail, with the reason: they are not skipped.

Nothing but pytest and the options is loaded until a test asks: this plugin is part of every pytest run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kafka_conformance.brokers.broker import Broker
    from kafka_conformance.core.events import Event

__all__ = ["assert_conforms"]

EXAMPLES = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("kafka-conformance", "questions to implementations of Kafka's rules")
    group.addoption("--kafka-seed", type=int, default=None, metavar="N", help="Makes the same questions again.")
    group.addoption("--kafka-examples", type=int, default=EXAMPLES, metavar="N", help="Fresh questions for each rule.")
    group.addoption(
        "--kafka-known-failures", type=Path, default=None, metavar="FILE", help="What is known to fail; TOML."
    )
    group.addoption(
        "--kafka-out-of-domain",
        action="store_true",
        help="Also ask what no user of any client can bring about; it fails no test.",
    )
    group.addoption(
        "--kafka-broker",
        default="newest-that-runs",
        metavar="RELEASE",
        help="Which broker kafka_broker is: an exact release.",
    )
    group.addoption(
        "--kafka-broker-engine", default="auto", choices=("auto", "docker", "jars"), help="And where it comes from."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a file of known failures that cannot be read before any test runs, as ``gate`` does."""
    known: Path | None = config.getoption("--kafka-known-failures")
    if known is not None:
        from kafka_conformance.cli.commands.gate import entries_of
        from kafka_conformance.core.errors import BadInput

        try:
            entries_of(known)
        except BadInput as error:
            raise pytest.UsageError(f"--kafka-known-failures: {error}") from error


@pytest.fixture(name="kafka_broker", scope="session")
def _kafka_broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """A real Kafka broker for the session: ``kafka_broker.bootstrap``. It ends with the session, however that ends."""
    from contextlib import ExitStack

    from kafka_conformance.brokers.broker import running_broker
    from kafka_conformance.core.errors import KitError
    from kafka_jars.errors import JarError

    option = request.config.getoption
    with ExitStack() as stack:
        try:
            broker = stack.enter_context(
                running_broker(option("--kafka-broker"), engine=option("--kafka-broker-engine"))
            )
        except (KitError, JarError) as error:
            pytest.fail(f"no broker for kafka_broker: {error}", pytrace=False)
        yield broker


@pytest.fixture(name="assert_conforms")
def _assert_conforms(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``assert_conforms(answerer, rule, …)``, with the options of pytest's command line where a test gives none."""
    option = request.config.getoption

    def asserted(answerer: Any, *rules: str, **given: Any) -> None:
        __tracebackhide__ = True
        usual = {
            "seed": option("--kafka-seed"),
            "examples": option("--kafka-examples"),
            "known_failures": option("--kafka-known-failures"),
            "out_of_domain": option("--kafka-out-of-domain"),
        }
        assert_conforms(answerer, *rules, **{**usual, **given})

    return asserted


def assert_conforms(
    answerer: Callable[[str, str, dict[str, Any]], dict[str, Any] | None],
    *rules: str,
    kafka: str = "",
    examples: int = EXAMPLES,
    seed: int | None = None,
    known_failures: Path | None = None,
    timeout_s: float = 60,
    out_of_domain: bool = False,
    allow_unproven: bool = False,
) -> None:
    """Fail the test unless ``answerer`` answers the questions of these rules as Kafka does.

    ``kafka`` names exact releases, or is ``"eras"`` for one of each distinct behaviour; else each rule is asked of the
    newest that has it. Without a seed a fresh one is used, and printed. ``out_of_domain`` asks also what no user of any
    client can bring about; it fails no test. ``allow_unproven`` takes releases without a row in the certificate. Failed
    questions are saved under ``.kafka-conformance/failures`` of the working directory, for ``replay`` and for the next
    run. Raises pytest's Failed where it differs or could not be judged, BadInput for a rule or a release that there is
    not, and where no rule is named.
    """
    __tracebackhide__ = True
    from kafka_conformance.answerers.in_process import CallableAnswerer
    from kafka_conformance.answerers.names import target_name
    from kafka_conformance.cli.commands.gate import asked_eras, asked_rules, entries_of, proven_rules
    from kafka_conformance.core.errors import BadInput
    from kafka_conformance.core.progress import Steps
    from kafka_conformance.gate.runner import GatePlan, gate
    from kafka_conformance.oracle.session import fresh_seed

    if not rules:
        raise BadInput('assert_conforms was given no rule: assert_conforms(answerer, "partition-for-key") for one')
    asked, unproven = proven_rules(asked_rules(kafka, rules), named=True, allow=allow_unproven)
    used = fresh_seed() if seed is None else seed
    named = f"python:{_name(answerer)}"
    with CallableAnswerer(answerer, named, timeout_s=timeout_s) as target:
        plan = GatePlan(
            asked, examples, used, named=True, by=target_name(named, ()), out_of_domain=out_of_domain, unproven=unproven,
            eras=asked_eras(kafka, rules),
        )  # fmt: skip
        gated = gate(target, plan, entries_of(known_failures), lambda _: None, Steps("asking", len(asked)))
    if gated.ended.exit_code:
        pytest.fail("\n".join(filter(None, (_words(gated.events), gated.warning))), pytrace=False)


def _name(answerer: Any) -> str:
    """Return ``module:name``, as ``replay`` imports it in the working directory."""
    module = getattr(answerer, "__module__", "")
    return f"{_test_module(module) or module}:{getattr(answerer, '__qualname__', type(answerer).__name__)}"


def _test_module(module: str) -> str:
    """Return the dotted path of a test module from the working directory: pytest imports it from its own folder."""
    file = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    if not (file.name == "conftest.py" or file.name.startswith("test_") or file.stem.endswith("_test")):
        return ""
    try:
        return ".".join(file.relative_to(Path.cwd()).with_suffix("").parts)
    except ValueError:
        return ""


def _words(events: Sequence[Event]) -> str:
    import io

    from kafka_conformance.core.console import console
    from kafka_conformance.gate.reports import terminal as gate_terminal

    out = console(io.StringIO(), 120)
    with out.capture() as captured:
        gate_terminal.show(out, events)
    return captured.get()
