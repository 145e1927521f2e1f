"""The scripts that ship, and those that are drawn."""

from __future__ import annotations

import pytest

pytest.importorskip("kafka")

from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.client_gate.script import Script, Settings, generated, read, shipped


def test_shipped_client_scripts_have_unique_ids_titles_parsable_faults_and_consume_only_if_stored() -> None:
    scripts = shipped()
    assert len({script.id for script in scripts}) == len(scripts) >= 40
    for script in scripts:
        assert script.title
        assert bool(script.stored) == bool(script.consume)
        assert len(script.faults) == len(script.lose_request) + len(script.lose_response) + len(script.refuse)


def test_script_settings_become_environment_variables_of_the_client() -> None:
    assert Settings(idempotence=True, batch_size=7).environment() == {
        "ACKS": "all", "IDEMPOTENCE": "true", "BATCH_SIZE": "7", "LINGER_MS": "5", "COMPRESSION": "none", "IN_FLIGHT": "5",
        "ISOLATION": "read_uncommitted", "SESSION_MS": "6000",
    }  # fmt: skip


def test_generated_scripts_depend_only_on_the_seed_and_a_shorter_list_is_a_prefix() -> None:
    assert generated(30, 4) == generated(30, 4)
    assert generated(30, 4) != generated(30, 5)
    assert generated(30, 4)[:10] == generated(10, 4)


def test_generated_produce_faults_hit_only_requests_after_the_warm_up() -> None:
    scripts = generated(300, 1)
    numbers = [(script, number) for script in scripts for api, number in script.faults if api == "Produce"]
    assert all(script.partitions < number <= script.partitions + script.rounds for script, number in numbers)
    assert {script.settings.idempotence for script, _ in numbers} == {True, False}


@pytest.mark.parametrize(
    "text",
    ["script = 1", "nothing = 1", '[[script]]\nid = "a"', '[[script]]\nid = "a"\ntitle = "b"\nrefuse = ["Produce=1"]',
     '[[script]]\nid = "a"\ntitle = "b"\nsettings = {acks = "2"}', "[["],
)  # fmt: skip
def test_toml_text_without_valid_client_scripts_raises_bad_input(text: str) -> None:
    with pytest.raises(BadInput):
        read(text)


def test_script_with_lost_request_is_marked_as_losing_and_with_refused_request_is_not() -> None:
    assert Script("a", "b", lose_request=("Produce=1",)).loses
    assert not Script("a", "b", refuse=("Produce=1:6",)).loses
