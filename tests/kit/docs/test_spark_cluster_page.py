"""The page on clusters says what was run, and its commands of ``spark-submit`` fit together."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from kafka_conformance.cli.main import app

PAGE = (Path(__file__).parents[3] / "kit" / "docs" / "spark-cluster.md").read_text(encoding="utf-8")
SUBMITS = re.findall(r"^spark-submit .*$", PAGE.replace("\\\n", ""), re.MULTILINE)
PYTHON = "./workers/bin/python"


def settings(words: list[str]) -> dict[str, str]:
    """The settings of a command, with the files it sends."""
    given = [words[place + 1] for place, word in enumerate(words) if word in {"--conf", "--setting"}]
    named = {"--archives": "spark.archives", "--py-files": "spark.submit.pyFiles"}
    files = [f"{named[word]}={words[place + 1]}" for place, word in enumerate(words) if word in named]
    return dict(pair.split("=", 1) for pair in given + files)


def test_cluster_page_marks_cluster_managers_that_were_not_run() -> None:
    for cluster in ("Spark Connect", "YARN", "Kubernetes", "Databricks"):
        anchor = cluster.lower().replace(" ", "-")
        assert re.search(rf"^\| \[{cluster}\]\(#{anchor}\) \| \*\*no\*\*", PAGE, re.MULTILINE)
        assert f"## {cluster}\n\n**Not run" in PAGE
    assert "## Standalone\n\n**Not run" not in PAGE


def test_cluster_page_shows_six_submit_commands() -> None:
    assert len(SUBMITS) == 6


@pytest.mark.parametrize("command", SUBMITS)
def test_spark_submit_command_ships_the_package_to_workers(command: str) -> None:
    given = settings(shlex.split(command))
    if archive := given.get("spark.archives"):
        assert archive.rpartition("#")[2] == PYTHON.split("/")[1]
        assert given["spark.pyspark.python"] == PYTHON
        cluster_mode = "--deploy-mode cluster" in command
        assert cluster_mode == ("spark.pyspark.driver.python" not in given)
    else:
        assert given["spark.submit.pyFiles"].endswith(".zip")


@pytest.mark.parametrize("command", [command for command in SUBMITS if " kit.py " in command])
def test_kit_command_after_spark_submit_parses_without_master_option(command: str) -> None:
    name, *words = shlex.split(command.partition(" kit.py ")[2])
    context = click.Context(app, info_name="kafka-conformance")
    app.get_command(context, name).make_context(name, words, parent=context)  # type: ignore[union-attr]
    assert "--master" not in words  # spark-submit has it
