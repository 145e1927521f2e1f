"""The kit finds what is wrong, says it, keeps it, and shows it again; and finds nothing where nothing is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import kafka_reference

SOURCE = Path(kafka_reference.__file__).parent


def _one_bit_off(folder: Path) -> dict[str, str]:
    """An environment whose kafka_reference has one bit of the multiplier wrong."""
    shutil.copytree(SOURCE, folder / "kafka_reference", ignore=shutil.ignore_patterns("__pycache__"))
    module = folder / "kafka_reference" / "partitioning" / "murmur2.py"
    text = module.read_text()
    assert text.count("M = 0x5BD1E995") == 1
    module.write_text(text.replace("M = 0x5BD1E995", "M = 0x5BD1E994"))
    return {"PYTHONPATH": str(folder)}


def test_verify_finds_wrong_murmur2_multiplier_saves_and_replays_the_failure(
    kit: Callable, kit_here: Callable, tmp_path: Path
) -> None:
    wrong = _one_bit_off(tmp_path / "wrong")
    found = kit(
        "verify",
        "--rules",
        "murmur2",
        "--examples",
        "200",
        "--seed",
        "1",
        "--json",
        "--certificate",
        "made.json",
        env=wrong,
    )
    assert found.code == 1, found
    (result,) = json.loads(found.out)["results"]
    (finding,) = result["findings"]
    assert finding["question"] == {"key": ""}, "the empty key is the smallest that shows it"
    assert finding["expected"] == {"hash": 275646681}
    assert result["differ"] > 60_000
    saved = tmp_path / ".kafka-conformance" / "failures" / f"{finding['id']}.json"
    assert json.loads(saved.read_text())["question"] == {"key": ""}
    assert not (tmp_path / "made.json").exists(), "nothing was proven"

    again = kit("replay", finding["id"], env=wrong)
    assert again.code == 1, again
    assert '{"hash":275646681}' in again.out
    assert "the answers differ" in again.out
    fixed = kit_here("replay", str(saved))
    assert fixed.code == 0, fixed
    assert "the answers match now" in fixed.out


def test_verify_finds_wrong_vectorized_murmur2_with_correct_scalar_murmur2(kit: Callable, tmp_path: Path) -> None:
    folder = tmp_path / "wrong"
    shutil.copytree(SOURCE, folder / "kafka_reference", ignore=shutil.ignore_patterns("__pycache__"))
    module = folder / "kafka_reference" / "bulk.py"
    module.write_text(module.read_text().replace("SEED_, M_ = u32(SEED), u32(M)", "SEED_, M_ = u32(SEED), u32(M ^ 4)"))
    env = {"PYTHONPATH": str(folder)}
    found = kit(
        "verify", "--rules", "murmur2", "--examples", "50", "--exhaustive", "1", "--seed", "1", "--json", env=env
    )
    assert found.code == 1, found
    (result,) = json.loads(found.out)["results"]
    assert result["differ"] == 257
    assert result["findings"][0]["actual"] == {"bulk": "differs, the scalar does not"}


def test_verify_of_mutant_answerer_against_java_exits_with_1(kit_here: Callable) -> None:
    ran = kit_here(
        "verify", "--rules", "partition-for-key", "--answerer", "mutant:sign-abs", "--examples", "300", "--seed", "3"
    )
    assert ran.code == 1
    assert "mutant:sign-abs 4.4.0" in ran.out


def test_verify_against_java_exits_0_and_counts_questions_by_source(kit: Callable, tmp_path: Path) -> None:
    ran = kit(
        "verify",
        "--rules",
        "murmur2,builtin-partitioner,sequence-increment",
        "--examples",
        "200",
        "--seed",
        "7",
        "--json",
    )
    assert ran.code == 0, ran
    document = json.loads(ran.out)
    assert document["seed"] == 7
    by_rule = {result["rule"]: result for result in document["results"]}
    assert by_rule["murmur2"]["asked"] == by_rule["murmur2"]["agreed"] == sum(by_rule["murmur2"]["sources"].values())
    assert by_rule["murmur2"]["sources"]["every key of up to 2 bytes"] == 65_793
    assert by_rule["murmur2"]["kinds"]["hash 0x80000000"] > 0
    assert [path.name for path in tmp_path.iterdir()] == []
    shown = kit("certificate")
    assert shown.code == 0, shown
    assert all(rule in shown.out for rule in by_rule)


def test_diff_from_3_1_2_to_3_2_3_shows_negative_partition_now_raises(kit_here: Callable) -> None:
    ran = kit_here("diff", "3.1.2", "3.2.3", "--rules", "producer-partition", "--examples", "300", "--seed", "5")
    assert ran.code == 1, ran
    assert 'java 3.1.2  {"partition":-1}' in ran.out
    assert "generated an invalid partition number: -1" in ran.out
    assert "1 kind of change" in ran.out


def test_diff_of_releases_without_a_changed_answer_prints_no_change_and_exits_0(kit_here: Callable) -> None:
    ran = kit_here(
        "diff", "3.4.1", "3.5.2", "--rules", "murmur2,producer-partition", "--examples", "200", "--seed", "5"
    )
    assert ran.code == 0, ran
    assert ran.out.count("no change") == 2


def test_answer_command_as_java_returns_the_java_answer_to_each_protocol_question(kit: Callable) -> None:
    lines = [
        {"hello": {"protocol": 1}},
        {"id": "a", "rule": "partition-for-key", "release": "2.3.1", "question": {"key": "666f6f", "partitions": 12}},
        {"id": "b", "rule": "partition-for-key", "release": "4.4.0", "question": {"key": None, "partitions": 12}},
    ]
    ran = kit("answer", "--as", "java", stdin="".join(json.dumps(line) + "\n" for line in lines))
    assert ran.code == 0, ran
    hello, one, two = map(json.loads, ran.out.splitlines())
    assert hello["hello"]["protocol"] == 1
    assert one == {"id": "a", "answer": {"partition": 8}}
    assert two == {"id": "b", "answer": {"raises": "NullPointerException"}}


def test_selftest_with_java_kills_every_mutant_of_the_selected_rules(kit_here: Callable) -> None:
    """Every mutant of every rule is what ``tox -e nightly`` asks: it takes minutes."""
    ran = kit_here("selftest", "--rules", "murmur2,partition-for-key", "--examples", "300", "--seed", "11")
    assert ran.code == 0, ran
