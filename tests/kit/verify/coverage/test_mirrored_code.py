"""What each rule says about the code that it mirrors."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_conformance.core.errors import KitError
from kafka_conformance.rules import RULES
from kafka_conformance.verify.coverage import mirrored_code as module
from kafka_conformance.verify.coverage.mirrored_code import Elsewhere, MirroredClass, mirrored_code


@pytest.mark.parametrize("slug", RULES)
def test_coverage_toml_names_only_kafka_classes_and_existing_rules_and_agrees_on_harness(slug: str) -> None:
    code = mirrored_code(slug)
    assert code is not None
    assert code.mirrors
    names = [name for each in code.mirrors for name in each.binary_names]
    assert all(name.startswith(("org/apache/kafka/", "kafka/")) for name in names)
    assert {each.rule for each in code.elsewhere} <= {"", *RULES}
    assert (code.harness == "nothing") == (RULES[slug].harness.startswith("None") or slug == "partition-for-key")


def test_coverage_toml_is_parsed_and_a_malformed_file_raises_kit_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some_rule").mkdir()
    file = tmp_path / "some_rule" / "coverage.toml"
    monkeypatch.setattr(module, "files", lambda _: tmp_path)
    read = mirrored_code.__wrapped__
    assert read("some-rule") is None
    file.write_text(
        '[[mirrors]]\nclass = ["a.B", "c.D"]\n[[elsewhere]]\nwhy = "so"\nmethods = ["B.x"]\n', encoding="utf-8"
    )
    code = read("some-rule")
    assert code is not None
    assert code.mirrors == (MirroredClass(("a.B", "c.D")),)
    assert code.mirrors[0].binary_names == ("a/B", "c/D")
    assert (code.elsewhere, code.harness) == ((Elsewhere("so", ("B.x",)),), "nothing")
    for text in ("[[mirrors]]\nclasses = 3\n", "harness = "):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(KitError, match=r"coverage\.toml cannot be read: "):
            read("some-rule")
