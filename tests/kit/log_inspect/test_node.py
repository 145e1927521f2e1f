"""The log directories of one node together, as a broker of 4.4.0 starts on them; with and without its server.properties."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from log_edits import kinds, seen
from log_partitions import META, Log, healthy

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.inspection import inspect
from kafka_conformance.log_inspect.node_settings import read_node_settings
from kafka_conformance.log_inspect.reports import page
from kafka_conformance.log_inspect.reports.text import start_answers
from kafka_conformance.log_inspect.result import Inspection

METADATA = "__cluster_metadata-0"
OTHER_ID = "version: 0\ntopic_id: AbCdEfGhQACAAAAAAAAAAA"
QUORUM = '{"leaderId":1,"leaderEpoch":1,"votedId":-1,"currentVoters":[{"voterId":1}],"data_version":0}'


@pytest.fixture
def node(tmp_path: Path) -> tuple[Path, Path]:
    """Two log directories with a partition each."""
    first, second = tmp_path / "a", tmp_path / "b"
    healthy(first / "orders-0").write()
    healthy(second / "orders-1").write()
    (first / "meta.properties").write_text(META)
    (second / "meta.properties").write_text(META.replace("YQYeGJ16YIO", "ZQYeGJ16YIO"))
    for each in (first, second):
        (each / ".kafka_cleanshutdown").write_bytes(b"")
    return first, second


def together(*folders: Path) -> Inspection:
    return inspect(*map(open_directory, folders))


def settings(folder: Path, *lines: str) -> Path:
    path = folder / "server.properties"
    path.write_text("\n".join(lines) + "\n")
    return path


def has_metadata(folder: Path) -> None:
    Log(folder / METADATA).write()
    (folder / METADATA / "quorum-state").write_text(QUORUM)


def by_settings(path: Path) -> Inspection:
    found = read_node_settings(path)
    return inspect(*(open_directory(folder, of_node=True) for folder in found.folders), settings=found)


STOPS: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "node.id": (lambda _, b: edit(b / "meta.properties", "node.id=1", "node.id=2"), "node-or-cluster-differs"),
    "cluster.id": (lambda _, b: edit(b / "meta.properties", "AAAAAAAAQACAAAAAAAAAAA", "BAAAAAAAQACAAAAAAAAAAA"),
                   "node-or-cluster-differs"),
    "directory.id": (lambda a, b: shutil.copy(a / "meta.properties", b), "directory-id-twice"),
    "a partition": (lambda a, b: shutil.copytree(a / "orders-0", b / "orders-0"), "folders-of-one-partition"),
    "no meta.properties": (lambda _, b: (b / "meta.properties").unlink(), "meta-properties-missing"),
}  # fmt: skip


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize("name", STOPS)
def test_broker_does_not_start_with_contradictory_log_directories_or_one_without_meta_properties(
    node: tuple[Path, Path], name: str
) -> None:
    healthy_pair = together(*node)
    assert (healthy_pair.start.starts, healthy_pair.verdict, len(healthy_pair.partitions)) == ("yes", "sound", 2)
    damage, kind = STOPS[name]
    damage(*node)
    found = together(*node)
    assert (found.start.starts, kinds(found)) == ("no", {kind})
    assert len(found.start.stopped_by) == 1
    assert found.start.stopped_by[0].startswith(str(node[1]))
    assert seen(node[0]).start.starts == "yes"


def test_future_replica_stops_broker_start_only_in_the_log_directory_of_the_partition(node: tuple[Path, Path]) -> None:
    name = f"orders-0.{'ab' * 16}-future"
    shutil.copytree(node[0] / "orders-0", node[1] / name)
    assert together(*node).start.starts == "yes"
    shutil.copytree(node[0] / "orders-0", node[0] / name)
    assert together(*node).start.starts == "no"


def test_topic_id_that_differs_between_log_directories_is_found(node: tuple[Path, Path]) -> None:
    healthy(node[0] / "orders-2").write()
    (node[1] / "orders-1/partition.metadata").write_text(OTHER_ID)
    assert kinds(seen(node[1])) == set()
    found = together(*node)
    assert [(row.kind, row.directory, row.file) for row in found.findings if row.severity == "broken"] == [
        ("topic-ids-differ", str(node[1]), "orders-1/partition.metadata")
    ]
    assert {one.path: (one.broken, one.end_after_start) for one in found.partitions} == {
        f"{node[0]}/orders-0": (0, 189), f"{node[0]}/orders-2": (0, 189), f"{node[1]}/orders-1": (1, 0),
    }  # fmt: skip
    assert str(node[1] / "orders-1") in page.write(found)
    assert "other log directories" not in "".join(found.start.not_checked)


def test_missing_metadata_log_on_sole_kraft_controller_empties_all_partitions_at_broker_start(
    node: tuple[Path, Path],
) -> None:
    """A broker of 4.4.0 with process.roles=broker,controller starts, and renames every partition to -stray."""
    lines = [f"log.dirs={node[0]},{node[1]}", "node.id=1", "controller.quorum.voters=1@127.0.0.1:9093"]
    combined = settings(node[0].parent, "process.roles=broker,controller", *lines)
    found = by_settings(combined)
    assert (found.start.starts, found.verdict) == ("yes", "broken")
    assert kinds(found) == {"metadata-log-missing", "partition-not-in-metadata"}
    assert [one.end_after_start for one in found.partitions] == [0, 0]
    assert len([line for line in found.start.wrong if line.endswith("empty for clients, if it is set aside")]) == 2
    alone = by_settings(settings(node[0].parent, "process.roles=broker", *lines))
    assert (alone.verdict, kinds(alone, "note")) == ("sound", set())
    three = [*lines[:2], "controller.quorum.voters=1@a:1,2@b:1,3@c:1", "process.roles=broker,controller"]
    found = by_settings(settings(node[0].parent, *three))
    assert (found.verdict, kinds(found, "note")) == ("sound", set())
    assert found.start.not_checked[0].startswith(
        "there is no copy of the cluster's metadata: if node 1 is the only controller"
    )


def test_metadata_folder_without_log_is_broken_only_if_node_is_sole_voter(node: tuple[Path, Path]) -> None:
    (node[0] / METADATA).mkdir()
    for quorum, broken in ((QUORUM, True), (QUORUM.replace("}]", '},{"voterId":2}]'), False)):
        (node[0] / METADATA / "quorum-state").write_text(quorum)
        found = together(*node)
        assert ("metadata-log-missing" in kinds(found)) == broken
        assert found.start.starts == "yes"


def test_corrupt_checkpoint_takes_directory_offline_but_stops_start_if_metadata_log_is_there(
    node: tuple[Path, Path],
) -> None:
    """A broker of 4.4.0 starts, and makes an empty orders-1 in the other directory."""
    has_metadata(node[0])
    name = "recovery-point-offset-checkpoint"
    (node[1] / name).write_bytes(bytes(8))
    found = together(*node)
    assert (found.start.starts, found.verdict) == ("yes", "broken")
    assert (
        sum(line.startswith(f"takes offline: {node[1]}/{name}: checkpoint-corrupt") for line in found.start.changes)
        == 1
    )
    assert found.start.wrong[0].startswith(f"{node[1]}: offline;")
    assert next(one for one in found.partitions if one.name == "orders-1").end_after_start == 0
    (node[1] / name).rename(node[0] / name)
    assert together(*node).start.starts == "no"


@pytest.mark.parametrize(
    ("old", "new", "starts"),
    [("directory.id=Z", "directory.id=!", "yes"), ("cluster.id", "c.id", "yes"), ("node.id", "n.id", "yes"),
     ("version=1", "version=2", "yes"), ("node.id=1", "node.id=x", "yes"), ("version=1", "", "no")],
)  # fmt: skip
def test_bad_meta_properties_take_directory_offline_but_missing_version_or_metadata_log_stops_start(
    node: tuple[Path, Path], old: str, new: str, starts: str
) -> None:
    """As a broker of 4.4.0 did with each; it exits if the directory has the cluster's metadata."""
    has_metadata(node[0])
    edit(node[1] / "meta.properties", old, new)
    found = together(*node)
    assert found.start.starts == starts
    assert any(line.startswith(f"takes offline: {node[1]}") for line in found.start.changes) == (starts == "yes")
    has_metadata(node[1])
    shutil.rmtree(node[0] / METADATA)
    assert together(*node).start.starts == "no"


def test_server_properties_that_contradict_log_directories_stop_broker_start(node: tuple[Path, Path]) -> None:
    has_metadata(node[0])
    path = settings(node[0].parent, f"log.dirs={node[0]} , {node[1]}", "node.id=7", "process.roles=broker")
    found = by_settings(path)
    assert found.start.starts == "no"
    assert all("server.properties it is 7" in line for line in found.start.stopped_by)
    assert len(found.start.stopped_by) == 2
    path = settings(node[0].parent, f"log.dirs={node[0]},{node[1].parent / 'none'}", "process.roles=broker")
    (line,) = by_settings(path).start.stopped_by
    assert "none/meta.properties: meta-properties-missing" in line


def test_log_inspect_command_accepts_only_distinct_log_directories_or_one_server_properties_file(
    node: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = settings(node[0].parent, f"log.dirs={node[0]},{node[1]}", "process.roles=broker")
    for words in ([*map(str, node)], [str(path)]):
        with app.make_context("kafka-conformance", ["log", "inspect", *words]) as context:
            assert app.invoke(context) == 0
        out = capsys.readouterr().out
        assert "2 partitions" in out
    for words, why in (
        ([str(node[0]), str(node[0])], "names one directory twice"),
        ([str(node[0]), str(node[1] / "orders-1")], "is the folder of a partition"),
        ([str(path), str(node[0])], "name no other DATA"),
        ([str(node[0] / "meta.properties"), str(node[0])], "name no other DATA"),
    ):
        with (
            app.make_context("kafka-conformance", ["log", "inspect", *words]) as context,
            pytest.raises(BadInput, match=why),
        ):
            app.invoke(context)


def test_start_prediction_lists_other_directories_as_unchecked_unless_server_properties_are_given(
    node: tuple[Path, Path],
) -> None:
    path = settings(node[0].parent, f"log.dirs={node[0]},{node[1]}", "process.roles=broker")
    *_, (_, _, lines) = start_answers(by_settings(path))
    assert not any("other log directories" in line or "whether its node.id" in line for line in lines)
    *_, (_, _, lines) = start_answers(seen(node[0]))
    assert any("other log directories" in line for line in lines)
