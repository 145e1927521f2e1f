"""What ``behaviour`` prints of two releases is what ``diff`` finds between them, in the real Java."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from kafka_conformance.cli.main import app

pytestmark = [pytest.mark.jvm, pytest.mark.exhaustive, pytest.mark.timeout(1800)]


def output(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.mark.about("producer-sequences")
def test_sender_changes_found_by_diff_command_equal_the_fields_of_behaviour_command() -> None:
    releases = ["2.8.2", "4.4.0"]
    document = json.loads(output("behaviour", "producer-sequences", "--kafka", *releases, "--json"))
    printed = {one["field"] for one in document["fields"]}
    found = output("diff", *releases, "--rules", "producer-sequences", "--examples", "200", "--seed", "1")
    explained = re.findall(r"^  explained by (.+)$", found, re.MULTILINE)
    changes = re.findall(r"^producer-sequences: [\d,]+ questions? of this kind", found, re.MULTILINE)
    assert len(explained) == len(changes), "a change that no field explains"
    assert {field.rpartition(".")[2] for fields in explained for field in fields.split(", ")} == printed
    assert len(printed) > 5
