"""``idempotence``, with the reference in place of Java: the page it writes, and pages that it checks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from kafka_conformance.answerers.mutant import mutant_answerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.commands import idempotence
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput, KitError

Asked = Callable[..., tuple[int, str]]


@pytest.fixture
def closed() -> list[str]:
    """The releases that were closed."""
    return []


@pytest.fixture
def answerer(monkeypatch: pytest.MonkeyPatch, closed: list[str]) -> Callable[[Any], None]:
    """Replaces Java by another answerer."""
    monkeypatch.setattr(idempotence, "open_oracle", lambda _: nullcontext(SimpleNamespace(close_release=closed.append)))

    def put(replacement: Any) -> None:
        monkeypatch.setattr(idempotence, "JavaAnswerer", lambda _: replacement)

    put(ReferenceAnswerer("java"))
    return put


@pytest.fixture
def asked(answerer: object, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Run the command; return its exit code and its output."""

    def asked(kafka: str, table: Path | None = None, check: Path | None = None) -> tuple[int, str]:
        code = idempotence.run(settings=(), kafka=kafka, table=table, check=check)
        return code, capsys.readouterr().out

    return asked


def section(said: str, releases: str) -> list[list[str]]:
    """The cells of each row of a section."""
    lines = said.split(f"### {releases}\n")[1].split("###")[0].splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("| ") and "`" not in line]


def test_idempotence_groups_consecutive_releases_with_equal_outcomes_in_one_section(
    asked: Asked, closed: list[str]
) -> None:
    code, said = asked("4.4.0,3.0.0,0.10.0.1,2.8.2")
    assert code == 0
    assert [line for line in said.splitlines() if line.startswith("#")] == [
        "## Defaults",
        "## Every combination",
        "### 0.10.0.1",
        "### 2.8.2 to 3.0.0",
        "### 4.4.0",
    ]
    assert closed == ["0.10.0.1", "2.8.2", "3.0.0", "4.4.0"]


# KAFKA-13598 on the page.
def test_idempotence_default_table_has_one_row_for_all_releases_with_equal_defaults(asked: Asked) -> None:
    _, said = asked("2.8.2,3.0.0,3.0.1,3.1.0,3.1.1")
    rows = [line.split(" | ")[:2] for line in said.splitlines() if line.startswith(("| 2", "| 3"))]
    assert rows == [
        ["| 2.8.2", "off; acks 1, retries 2147483647, 5 in flight"],
        ["| 3.0.0, 3.1.0", "off; acks all, retries 2147483647, 5 in flight"],
        ["| 3.0.1, 3.1.1", "idempotent; acks all, retries 2147483647, 5 in flight"],
    ]


def test_release_before_the_idempotent_producer_has_one_table_row_off(asked: Asked) -> None:
    assert section(asked("0.10.0.1")[1], "0.10.0.1") == [["any"] * 5 + ["off"]]


def test_idempotence_disabled_silently_is_listed_apart_from_disabled_by_setting(asked: Asked) -> None:
    rows = section(asked("3.9.2")[1], "3.9.2")
    silently = [row[:5] for row in rows if row[5] == "off, disabled silently"]
    assert silently == [
        ["unset", "0, 1", "any", "any", "unset"],
        ["unset", "any", "0", "any", "unset"],
        ["unset", "any", "any", "6, 2147483647", "unset"],
    ]
    assert [row[:5] for row in rows if row[5] == "off"] == [["false", "any", "any", "any", "unset"]]
    kinds = [row[5].split(":")[0] for row in rows]
    assert kinds == sorted(kinds, key=["error", "off, disabled silently", "off", "on", "on, transactional"].index)


def test_producer_config_errors_that_differ_only_in_the_value_share_one_row(asked: Asked) -> None:
    reported = {row[5] for row in section(asked("4.4.0")[1], "4.4.0") if "Current value" in row[5]}
    assert len(reported) == 1
    assert next(iter(reported)).endswith("Current value is N.")


def test_idempotence_table_is_written_between_page_markers_and_passes_check(asked: Asked, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Before\n\n| a | b |\n\n<!-- table: made by idempotence -->\nold\n<!-- /table -->\n\nAfter.\n")
    assert asked("3.9.2,4.4.0", table=page)[0] == 0
    text = page.read_text()
    assert text.startswith("# Before\n\n| a | b |\n\n<!-- table: made by idempotence -->\n\n## Defaults\n")
    assert text.endswith("\n<!-- /table -->\n\nAfter.\n")
    assert "\nold\n" not in text
    code, said = asked("3.9.2,4.4.0", check=page)
    assert (code, said) == (0, f"{page}: 2 of 2 releases match; the page has 2\n")
    assert asked("4.4.0", check=page)[0] == 0, "a release that is not asked is not judged"


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("| any | unset | off |", "| any | unset | on |", "wrong row for 4.4.0: | false |"),
        ("| unset | any | 0 |", "| unset | any | 1 |", "missing row for 4.4.0: | unset | any | 0 |"),
        ("| 3.9.2, 4.4.0 | idempotent; ", "| 3.9.2, 4.4.0 | off; ", "wrong row for 4.4.0: | off; "),
        ("| 3.9.2, 4.4.0 | idempotent; ", "| 3.9.2 | idempotent; ", "missing row for 4.4.0: | idempotent; "),
        ("### 4.4.0", "### 4.3.1, 4.4.1", "missing row for 4.4.0: | false |"),
        ("value is N.", "value is 6.", "missing row for 4.4.0: "),
    ],
)
def test_idempotence_check_of_wrong_page_exits_1_and_names_the_row(
    asked: Asked, tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    page = tmp_path / "page.md"
    asked("3.9.2,4.4.0", table=page)
    text = page.read_text()
    assert right in text
    page.write_text(text.replace(right, wrong))
    code, out = asked("4.4.0", check=page)
    assert code == 1
    assert message in out
    assert "0 of 1 releases match" in out


def test_idempotence_check_of_page_without_a_requested_release_exits_with_1(asked: Asked, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    asked("4.4.0", table=page)
    code, said = asked("3.9.2,4.4.0", check=page)
    assert code == 1
    assert "1 of 2 releases match; the page has 1" in said


@pytest.mark.parametrize("slug", ["idempotence-config-4.0.0-like-3.9.2", "off-in-newest", "minus-1-is-not-all"])
def test_idempotence_check_exits_1_if_java_answers_differ_from_the_page(
    asked: Asked, answerer: Callable[[Any], None], tmp_path: Path, slug: str
) -> None:
    page = tmp_path / "page.md"
    asked("4.0.2", table=page)
    answerer(mutant_answerer(slug))
    assert asked("4.0.2", check=page)[0] == 1


def test_idempotence_table_is_not_written_if_java_fails_to_answer(
    asked: Asked, answerer: Callable[[Any], None], tmp_path: Path
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("broke")

    answerer(ReferenceAnswerer("java", broken))
    with pytest.raises(KitError, match=r"java did not answer in 4\.4\.0"):
        asked("4.4.0", table=tmp_path / "page.md")
    assert not (tmp_path / "page.md").exists()


def test_idempotence_page_that_cannot_be_read_or_written_is_refused(asked: Asked, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        asked("4.4.0", check=tmp_path / "nowhere.md")
    (tmp_path / "file").touch()
    with pytest.raises(KitError, match="cannot be written: what should be its folder is a file"):
        asked("4.4.0", table=tmp_path / "file" / "page.md")


def test_idempotence_command_prints_a_section_for_the_given_release(answerer: object, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["idempotence", "--kafka", "4.4.0"], standalone_mode=False)
    assert done.return_value == 0
    assert "### 4.4.0" in done.output


def test_idempotence_check_finds_each_release_inside_a_section_of_several(asked: Asked, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- table: made by idempotence -->\n<!-- /table -->\n")
    asked("2.8.0,2.8.1,2.8.2,3.0.0,3.0.1", table=page)
    assert "### 2.8.0 to 3.0.0\n" in page.read_text()
    for version in ("2.8.0", "2.8.1", "3.0.0", "3.0.1"):
        assert asked(version, check=page)[0] == 0
    page.write_text(page.read_text().replace("| 3.0.1 | idempotent;", "| 3.0.1 | off;"))
    assert asked("3.0.1", check=page)[0] == 1
    assert asked("3.0.0", check=page)[0] == 0


def said_of(*settings: str) -> list[str]:
    result = CliRunner().invoke(app, ["idempotence", *settings], catch_exceptions=False)
    return result.stdout.splitlines()


def test_acks_1_prints_release_ranges_silently_not_idempotent_not_idempotent_and_never_retried() -> None:
    twice = "a batch that is sent again can be written twice, and behind a later one"
    silently, openly, never_again = said_of("acks=1")
    assert silently.startswith(
        "3.0.1 to 3.0.2, 3.1.1 to 4.4.0: not idempotent, and only a line in the log says so (acks 1,"
    )
    assert openly == f"2.1.0 to 3.0.0, 3.1.0: not idempotent (acks 1, retries 2147483647, 5 in flight): {twice}"
    assert never_again.startswith(
        "0.10.0.0 to 2.0.1: not idempotent (acks 1, retries 0, 5 in flight): nothing is sent again"
    )
    assert silently.endswith(twice)


@pytest.mark.parametrize(
    ("settings", "does", "end"),
    [
        ("acks=all", "idempotent (acks all, retries 2147483647, 5 in flight)", "is written once, and in order"),
        ("transactional.id=a", "transactional and idempotent (acks all,", "is written once, and in order"),
        (
            "enable.idempotence=true acks=1",
            "the constructor throws ConfigException: Must set acks to all",
            "idempotence.",
        ),
        ("acks=2", "the constructor throws ConfigException: Invalid value 2 for configuration acks", "all, -1, 0, 1"),
        (
            "enable.idempotence=false max.in.flight.requests.per.connection=1",
            "not idempotent (acks all, retries 2147483647, 1 in flight)",
            "can be written twice",
        ),
    ],
)
def test_producer_settings_in_one_release_print_one_line_with_the_outcome(settings: str, does: str, end: str) -> None:
    (line,) = said_of("--kafka", "4.4.0", *settings.split())
    assert line.startswith(f"4.4.0: {does}")
    assert line.endswith(end)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("--kafka 4.4.0 acks=2", 1),
        ("--kafka 2.8.2,4.4.0 enable.idempotence=true acks=1", 1),
        ("--kafka 4.4.0 acks=1", 0),
    ],
)
def test_idempotence_exits_1_if_producer_constructor_throws_in_any_release(words: str, code: int) -> None:
    done = CliRunner().invoke(app, ["idempotence", *words.split()], standalone_mode=False)
    assert (done.return_value, "throws" in done.output) == (code, bool(code))


def test_setting_with_space_before_equals_sign_is_refused_with_correction() -> None:
    with pytest.raises(BadInput, match=r"'acks = 1' has a space before =: write acks=1$"):
        CliRunner().invoke(app, ["idempotence", "acks = 1"], catch_exceptions=False)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("enable_idempotence=true", "did you mean enable.idempotence?"),
        ("ack=1", "did you mean acks?"),
        ("acks", "expected NAME=VALUE with one of enable.idempotence, acks,"),
        ("linger.ms=5", "'linger.ms=5' is not a setting that decides about idempotence: expected"),
        ("acks=1 acks=all", "acks is given twice: '1' and 'all'"),
        ("acks=1 --kafka 9.9.9", "release 9.9.9 is not proven"),
        ("acks=1 --table made.md", "--table and --check ask Java"),
    ],
)
def test_idempotence_refuses_bad_or_duplicate_settings_unproven_releases_and_table_with_settings(
    words: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput) as raised:
        CliRunner().invoke(app, ["idempotence", *words.split()], catch_exceptions=False)
    assert error in str(raised.value)
