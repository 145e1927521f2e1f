"""``log inspect`` and ``log find``: exit codes, JSON, the page, and what is printed."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from log_partitions import META, data, healthy
from permissions import run_obeying

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput


def run(*words: str) -> int:
    with app.make_context("kafka-conformance", ["log", *words]) as context:
        code: int = app.invoke(context)
    return code


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return healthy(tmp_path / "data" / "orders-0").folder


def test_log_inspect_of_a_sound_directory_exits_with_0(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("inspect", str(folder), "--records", "--html", str(tmp_path / "page.html")) == 0
    out = capsys.readouterr().out
    assert "orders-0" in out
    assert "sound: 0 broken, 0 suspicious; 1 partition" in out
    assert "every record decoded" in out
    page = (tmp_path / "page.html").read_text()
    assert "<h1>Sound" in page
    assert "<p>None.</p>" in page


def test_log_inspect_of_foreign_bytes_exits_1_and_escapes_file_names_in_text_and_html(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / f"{0:020}.log"
    path.write_bytes(path.read_bytes() + b"<script>alert(1)</script>")
    (folder / "\x1b[31m<b>").write_bytes(b"")
    assert run("inspect", str(folder), "--html", str(tmp_path / "page.html")) == 1
    out = capsys.readouterr().out
    assert "broken  foreign-bytes  00000000000000000000.log, bytes " in out
    assert "These bytes are not a record batch." in out
    assert "\x1b[31m" not in out
    assert "BROKEN: 1 broken" in out
    page = (tmp_path / "page.html").read_text()
    assert "<h1>Broken" in page
    assert "<b>" not in page
    assert run("inspect", str(folder), "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "broken"
    assert [row["kind"] for row in document["findings"]] == ["unknown-file", "foreign-bytes"]
    assert document["findings"][1]["meaning"].startswith("These bytes are not a record batch.")


def test_log_inspect_strict_exits_1_for_suspicious_findings(folder: Path) -> None:
    (folder / "leader-epoch-checkpoint").unlink()
    assert run("inspect", str(folder)) == 0
    assert run("inspect", str(folder), "--strict") == 1


def test_log_commands_refuse_an_empty_or_missing_folder(tmp_path: Path) -> None:
    for words in (["inspect", str(tmp_path)], ["inspect", str(tmp_path / "none")], ["find", str(tmp_path), "1"]):
        with pytest.raises(BadInput):
            run(*words)


def test_log_inspect_of_wrong_path_suggests_the_log_directory(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "orders-0.log"
    file.write_bytes(b"")
    with pytest.raises(BadInput, match=r"orders-0\.log is not named as a segment.*: name the folder that has it"):
        run("inspect", str(file))
    (folder.parent / "meta.properties").write_text(META)
    with pytest.raises(BadInput, match="data looks like one"):
        run("inspect", str(tmp_path))


def test_log_inspect_of_one_segment_finds_damage_only_in_that_log_file_and_index(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in folder.glob(f"{0:020}.*"):
        path.write_bytes(b"damaged")
    segment = folder / f"{63:020}.log"
    assert run("inspect", str(segment), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    (row,) = document["partitions"]
    assert (row["name"], row["segments"], row["start"], row["end"], row["bytes"]) == (
        "orders-0", 1, 63, 126, segment.stat().st_size,
    )  # fmt: skip
    assert document["findings"] == []
    alone = tmp_path / "copied" / segment.name
    alone.parent.mkdir()
    alone.write_bytes(segment.read_bytes())
    assert run("inspect", str(alone), "--json") == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []
    alone.write_bytes(segment.read_bytes()[:-5])
    assert run("inspect", str(alone), "--json") == 1
    assert [row["kind"] for row in json.loads(capsys.readouterr().out)["findings"]] == ["cut-batch"]
    index = folder / f"{63:020}.index"
    index.write_bytes(index.read_bytes() + bytes(8))
    assert run("inspect", str(segment), "--json") == 1
    assert [row["kind"] for row in json.loads(capsys.readouterr().out)["findings"]] == ["index-zero-tail"]


def test_log_inspect_does_not_suggest_folder_without_log_segments(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "cpp-12").write_bytes(b"")
    (tmp_path / "bin" / "empty-1").mkdir()
    with pytest.raises(BadInput, match=r"no meta\.properties$"):
        run("inspect", str(tmp_path))
    (tmp_path / "bin" / "empty-1" / f"{0:020}.log").write_bytes(b"")
    with pytest.raises(BadInput, match="bin looks like one"):
        run("inspect", str(tmp_path))


def test_log_inspect_of_directory_with_only_meta_properties_exits_0_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "meta.properties").write_text(META)
    assert run("inspect", str(tmp_path)) == 0
    out = capsys.readouterr().out
    assert "note  no-partitions" in out
    assert "0 partitions" in out
    assert all(line == line.rstrip() for line in out.splitlines() if line.startswith("  "))


def test_log_inspect_of_unreadable_directory_exits_2_with_one_line(folder: Path) -> None:
    folder.chmod(0)
    ran = run_obeying([sys.executable, "-m", "kafka_conformance", "log", "inspect", str(folder)])
    folder.chmod(0o755)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"kafka-conformance: {folder}")
    assert "Permission denied" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_log_find_prints_segment_index_and_scan_steps_or_exits_1_beyond_log_end(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("find", str(folder), "100") == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "offset 100 of orders-0"
    assert out[1].startswith("1  segments begin at 0, 63, 126: the largest at or below is 63, 00000000000000000063.log")
    assert [line[0] for line in out if line[0] != " "] == ["o", "1", "2", "3", "4"]
    assert out[-1].startswith("4  record 100: timestamp")
    assert run("find", str(folder.parent), "--partition", "orders-0", "100", "--json") == 0
    assert json.loads(capsys.readouterr().out)["record"]["offset"] == 100
    assert run("find", str(folder), "100000") == 1
    assert "the log ends before it" in capsys.readouterr().out


@pytest.mark.parametrize(("limit", "why"), [("LARGEST_BYTES", "bytes"), ("MOST_RECORDS", "records")])
def test_log_find_exits_2_for_batch_above_size_or_record_limit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], limit: str, why: str
) -> None:
    monkeypatch.setattr(f"kafka_conformance.log_inspect.find.{limit}", 0)
    assert run("find", str(folder), "100") == 2
    assert f"{why}: more than 0 are not read" in capsys.readouterr().out


def test_log_find_abbreviates_a_scan_over_2000_batches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = healthy(tmp_path / "t-0")
    log.interval = 10**9
    log.roll()
    for _ in range(2_000):
        log.append(data(1))
    log.write()
    assert run("find", str(log.folder), str(log.offset - 1)) == 0
    out = capsys.readouterr().out
    assert "… 1,994 more" in out
    assert "the scan starts at position 0" in out


def test_log_inspect_updates_progress_at_least_once_per_segment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr("kafka_conformance.core.progress.Steps._show", lambda steps: shown.append(steps.title))
    assert run("inspect", str(folder)) == 0
    segments = len(list(folder.glob("*.log")))
    assert shown.count("inspecting orders-0, MiB") >= segments


@pytest.mark.parametrize("kind", ["fifo", "link"])
@pytest.mark.parametrize("report", ["text", "json"])
def test_log_inspect_exits_2_for_segment_that_is_a_fifo_or_dangling_link(
    folder: Path, capsys: pytest.CaptureFixture[str], kind: str, report: str
) -> None:
    path = max(folder.glob("*.log"))
    path.unlink()
    os.mkfifo(path) if kind == "fifo" else path.symlink_to("nowhere")
    assert run("inspect", str(folder), *(["--json"] if report == "json" else [])) == 2
    out = capsys.readouterr().out
    if report == "json":
        assert json.loads(out)["left_out"] == {"unreadable": 1}
    else:
        assert "NOT JUDGED: 0 broken" in out
        assert "not judged: 1 unreadable" in out


def test_log_find_by_time_exits_0_if_found_1_if_absent_2_if_segment_unreadable(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(folder.parent)
    assert run("find", root, "--time", "2023-11-14T22:13:20") == 0
    out = capsys.readouterr().out
    assert "records of 2023-11-14 22:13:20.000 UTC to 2023-11-14 22:13:20.999 UTC" in out
    assert "1 of 1 partition" in out
    assert run("find", root, "--time", "2023-11-15", "--json") == 1
    assert json.loads(capsys.readouterr().out)["partitions"][0]["ranges"] == []
    path = folder / f"{126:020}.log"
    path.write_bytes(b"no batch" * 20)
    assert run("find", root, "--time", "2023-11-14") == 2
    assert f"not read: orders-0/{126:020}.log: at position 0 is not a batch" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["1", "--time", "2023-11-14"], ["1", "--scan"], ["--time", "yesterday"]])
def test_log_find_refuses_no_target_offset_with_time_offset_with_scan_and_invalid_time(
    folder: Path, words: list[str]
) -> None:
    with pytest.raises(BadInput):
        run("find", str(folder), *words)
