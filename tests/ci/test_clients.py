"""The gates of the clients and their page, from synthetic streams of events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import client_gates
import client_page
import client_results
import msgspec
import pytest

from kafka_conformance.answerers.named_driver import NamedDriver, Setting
from kafka_conformance.core.events import Began, Differed, Ended, Event, Known, RuleBegan, RuleEnded, Target, to_line

RULE, AT = "partition-for-key", "4.4.0"
SETTINGS = {
    "default": Setting(("x",), without_key="in turn"),
    "java": Setting(("y",), chosen_by="Murmur2"),
    "same": Setting(("x",)),
    "other": Setting(("z",), chosen_by="Other"),
}
QUESTIONS = {
    "sequence-increment": {"sequence": 1, "by": 1},
    "round-robin-partitioner": {"cluster": {"nodes": [], "partitions": []}, "steps": []},
}
DRIVER = NamedDriver(("./driver",), client="a|client", version="1.0", settings=SETTINGS, sequences="no producer id")


def events_of(known: Known | None = None, *, rule: str = RULE, same: bool = False, ended: bool = True) -> list[Event]:
    count = {"known": int(not same and known is not None), "differed": int(not same and known is None)}
    asked = (2_003, 2_003 if same else 2_002)
    question = {"key": "80", "partitions": 3} if rule == RULE else QUESTIONS[rule]
    differed = Differed(
        *(rule, AT, "id", "frozen", "another `partition`", 1, question, {"partition": 1}, {"partition": 2}, "J", ""),
        known=known,
    )
    verdict = "agrees" if same else "known" if known else "differs"
    events: list[Event] = [
        Began("1", Target("c", "2.0|`", "go", "./driver"), (AT,), (rule,), 0, 1),
        RuleBegan(rule, AT, "exact", 3),
        *([] if same else [differed]),
        RuleEnded(
            *(rule, AT, "exact", verdict, *asked),
            **count,
            failed=0,
            unsupported=4,
            frozen=3,
            fresh=0,
            earlier=0,
            seconds=1,
        ),
        Ended(count["differed"], "", *asked, **count, failed=0, unsupported=4, seconds=1),
    ]
    return events if ended else events[:-1]


def gated(
    folder: Path, events: Sequence[Event], settings: tuple[str, ...] = ("default",), code: int = 0
) -> client_gates.Gated:
    path = folder / "events.ndjson"
    path.write_bytes(b"\n".join(map(to_line, events)))
    return client_gates.Gated("c", settings, DRIVER, code, client_gates.read(path), "the build failed")


def index_of(gates: Sequence[client_gates.Gated]) -> str:
    return made(gates)["clients.md"]


def page_of(gates: Sequence[client_gates.Gated]) -> str:
    return made(gates)["clients/a-client.md"]


def made(gates: Sequence[client_gates.Gated]) -> dict[str, str]:
    """Return the pages as they are made from the text of a record of these gates."""
    text = client_results.results_text([client_results.result_of(one) for one in gates])
    results = msgspec.json.Decoder(client_results.GateResult).decode_lines(text)
    return client_page.pages(results, {"c": DRIVER})


def test_client_table_has_one_row_per_client_and_client_page_has_counts_per_setting(tmp_path: Path) -> None:
    settings = [
        gated(tmp_path, events_of(), ("default", "same"), 1),
        gated(tmp_path, events_of(same=True), ("java",)),
    ]
    rows = [line for line in index_of(settings).splitlines() if line.startswith("|")]
    assert rows[2:] == [
        "| [a&#124;client](clients/a-client.md) | 2.0&#124;&#96; | no | `Murmur2` | in turn | no producer id |"
    ]
    page = page_of(settings)
    assert "| 2.0&#124;&#96; | default, same | 2,002 of 2,003; 1 differed; 4 unsupported |" in page
    assert "| 2.0&#124;&#96; | java | 2,003 of 2,003; 4 unsupported |" in page
    assert (
        "- 2.0&#124;&#96;: keyed records go to other partitions than Java's by default; for Java's partitions set "
        "`Murmur2`. Records without a key: in turn." in page
    )
    assert "**" not in page


def test_client_table_shows_java_setting_as_still_differing_unless_another_setting_agrees(
    tmp_path: Path,
) -> None:
    differing = [gated(tmp_path, events_of(), (setting,), 1) for setting in ("default", "java")]
    assert "| no | `Murmur2`, still differs | in turn |" in index_of(differing)
    agreeing = gated(tmp_path, events_of(same=True), ("other",))
    assert "| no | `Other` | in turn |" in index_of([*differing, agreeing])


def test_client_table_shows_setting_as_not_needed_for_client_with_java_partitions_by_default(tmp_path: Path) -> None:
    gates = [gated(tmp_path, events_of(same=True))]
    assert "| yes | not needed | in turn | no producer id |" in index_of(gates)
    assert "keyed records go to Java's partitions by default. Records" in page_of(gates)


def test_client_table_shows_none_if_only_a_differing_default_setting_was_gated(tmp_path: Path) -> None:
    gates = [gated(tmp_path, events_of(), code=1)]
    assert "| no | none | in turn | no producer id |" in index_of(gates)
    assert "; none of its own settings changes that. Records" in page_of(gates)


def test_client_table_shows_if_round_robin_and_sequence_numbers_match_java(tmp_path: Path) -> None:
    round_robin = index_of([gated(tmp_path, events_of(rule="round-robin-partitioner"))])
    assert "| not asked | none | in turn; not as Java's RoundRobinPartitioner | no producer id |" in round_robin
    sequences = index_of([gated(tmp_path, events_of(rule="sequence-increment", same=True))])
    assert "| not asked | none | in turn | yes |" in sequences


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("wraps: another sequence", "no: wrong after 2,147,483,647"), ("does not wrap: another sequence", "no")],
)
def test_client_table_shows_sequence_wrong_only_after_int_max_if_only_the_wraparound_differs(
    tmp_path: Path, kind: str, shown: str
) -> None:
    events = [
        msgspec.structs.replace(event, kind=kind) if isinstance(event, Differed) else event
        for event in events_of(rule="sequence-increment")
    ]
    assert f"| in turn | {shown} |" in index_of([gated(tmp_path, events)])


def test_client_versions_are_listed_newest_first(tmp_path: Path) -> None:
    one = client_results.result_of(gated(tmp_path, events_of(same=True)))
    versions = ("1.9.2", "1.10.0 (binding 1.1)", "1.10.1")
    results = [msgspec.structs.replace(one, name=version, version=version) for version in versions]
    made = client_page.pages(results, dict.fromkeys(versions, DRIVER))
    rows = [line.split(" | ")[1] for line in made["clients.md"].splitlines() if line.startswith("| [")]
    assert [row.split()[0] for row in rows] == ["1.10.1", "1.10.0", "1.9.2"]
    assert re.findall(r"^- ([\d.]+)", made["clients/a-client.md"], re.MULTILINE) == ["1.10.1", "1.10.0", "1.9.2"]


def test_known_deviation_on_client_page_has_reason_expiry_and_example(tmp_path: Path) -> None:
    known = Known("it is CRC32", "ci/findings/one.md", "2027-06-30")
    text = page_of([gated(tmp_path, events_of(known), ("java",))])
    assert "- Seen in: 2.0&#124;&#96; (java).\n" in text
    assert "| 2,002 of 2,003; 1 known; 4 unsupported |" in text
    assert "Known until 2027-06-30: it is CRC32 ([" in text
    assert "](../../../ci/findings/one.md))" in text
    assert (
        '\nquestion  {"key": "80", "partitions": 3}\nJava      {"partition": 1}\nclient    {"partition": 2}\n' in text
    )


def test_client_page_shows_severity_effect_for_users_and_diagnosis_of_a_deviation(tmp_path: Path) -> None:
    events = [
        msgspec.structs.replace(event, severity="critical", keys=2, effect="Joins break.")
        if isinstance(event, Differed)
        else event
        for event in events_of()
    ]
    text = page_of([gated(tmp_path, events, code=1)])
    assert "## Differences in partition-for-key\n\n### `` another `partition` ``\n\nCritical, 2 keys. 1 time," in text
    assert "\n- What this means for users: Joins break.\n- Diagnosis: no known mistake explains this.\n" in text


def test_client_page_marks_rule_with_too_few_answers_as_not_judged(tmp_path: Path) -> None:
    events = [
        msgspec.structs.replace(event, verdict="not judged") if isinstance(event, RuleEnded) else event
        for event in events_of(same=True)
    ]
    gates = [gated(tmp_path, events, code=2)]
    assert "| not judged | none |" in index_of(gates)
    assert "| 2,003 of 2,003; 4 unsupported; not judged |" in page_of(gates)


@pytest.mark.parametrize(
    ("verdict", "code", "failure"), [("not judged", 2, 0), ("crashed", 2, 2), ("differs", 1, 1), ("agrees", 0, 0)]
)
def test_client_gate_failure_equals_exit_code_except_0_if_rules_were_only_not_judged(
    tmp_path: Path, verdict: str, code: int, failure: int
) -> None:
    events = [
        msgspec.structs.replace(event, verdict=verdict) if isinstance(event, RuleEnded) else event
        for event in events_of(same=True)
    ]
    assert gated(tmp_path, events, code=code).failure == failure
    assert gated(tmp_path, [], code=2).failure == 2


def test_deviation_without_known_failures_entry_has_no_expiry_date_on_client_page(tmp_path: Path) -> None:
    assert "Known until" not in page_of([gated(tmp_path, events_of(), code=1)])


@pytest.mark.parametrize("events", [events_of(ended=False), []])
def test_client_page_shows_exit_code_and_error_but_no_counts_of_an_unfinished_gate(
    tmp_path: Path, events: list[Event]
) -> None:
    gates = [gated(tmp_path, events, code=2)]
    text = page_of(gates)
    assert "The gate ended with exit code 2 before it finished: `the build failed`" in text
    assert "| could not be judged |" in index_of(gates)
    assert "2,002 of 2,003" not in text


def test_client_settings_with_equal_arguments_are_gated_once() -> None:
    assert client_gates.settings(DRIVER) == [("default", "same"), ("java",), ("other",)]


def test_recorded_client_results_cover_every_client_and_setting() -> None:
    results = client_results.read_results()
    drivers = {
        name: client_gates.read_driver(client_gates.ROOT / "ci" / "drivers" / name) for name in client_gates.names()
    }
    wanted = [(name, group) for name, driver in drivers.items() for group in client_gates.settings(driver)]
    assert [(one.name, one.settings) for one in results] == wanted
    assert not any(one.unfinished for one in results)


def test_finished_gate_of_one_rule_replaces_only_that_rule_of_the_same_version_in_the_record() -> None:
    count, other = client_results.RuleCount(RULE, 5, 5), client_results.RuleCount("murmur2", 7, 6, known=1)
    deviation = client_results.Deviation("murmur2", "another hash", "4.4.0", 1, {}, {}, {})
    old = client_results.GateResult("c", ("default",), "1.0", (count, other), (deviation,))
    new = client_results.GateResult("c", ("default",), "1.0", (client_results.RuleCount("murmur2", 7, 7),))
    (merged,) = client_results.merged([old], [new], ["murmur2"])
    assert merged == msgspec.structs.replace(old, rules=(count, *new.rules), deviations=())
    unfinished = msgspec.structs.replace(new, unfinished=(2, "the build failed"))
    for one in (unfinished, msgspec.structs.replace(new, version="1.1"), msgspec.structs.replace(new, settings=("x",))):
        assert client_results.merged([old], [one], ["murmur2"]) == [old]


def test_finished_client_gates_replace_own_results_and_unfinished_gates_keep_the_old_result() -> None:
    count = client_results.RuleCount(RULE, 5, 5)
    old = [client_results.GateResult(name, ("default",), "1.0", (count,)) for name in ("a", "c")]
    new = client_results.GateResult("b", ("default",), "1.0", (count,))
    changed = msgspec.structs.replace(old[0], version="1.1")
    unfinished = [msgspec.structs.replace(old[1], name=name, unfinished=(2, "the build failed")) for name in ("c", "d")]
    assert client_results.replaced(old, [new, changed, *unfinished]) == [changed, new, old[1]]


def test_client_table_page_has_at_most_60_lines_and_valid_links() -> None:
    docs = client_gates.ROOT / "kit" / "docs"
    text = (docs / "clients.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| [")]
    assert len(rows) == len(client_gates.names())
    assert len(text.splitlines()) <= 60
    for target in re.findall(r"\]\((clients/[^)]*)\)", text):
        assert (docs / target).is_file(), target
