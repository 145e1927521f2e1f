"""The frozen cases as files: their schemas, and the runners that the page shows, each with a right and a wrong hash."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from kafka_conformance.cases.export import case_files
from kafka_conformance.cases.sets import Withdrawn, case_sets
from kafka_conformance.cli.main import app
from kafka_conformance.rules import RULES

PAGE = Path(__file__).parents[3] / "kit" / "docs" / "cases.md"
RULE = "partition-for-key"

MINE = {
    "python": """\
def partition(key, partitions):
    mask = 0xFFFFFFFF
    h = (0x9747B28C ^ len(key)) & mask
    for i in range(0, len(key) // 4 * 4, 4):
        k = int.from_bytes(key[i:i + 4], "little") * 0x5BD1E995 & mask
        h = (h * 0x5BD1E995 & mask) ^ ((k ^ k >> 24) * 0x5BD1E995 & mask)
    if len(key) % 4:
        h = (h ^ int.from_bytes(key[len(key) // 4 * 4:], "little")) * 0x5BD1E995 & mask
    h = (h ^ h >> 13) * 0x5BD1E995 & mask
    return ((h ^ h >> 15) & 0x7FFFFFFF) % partitions
""",
    "javascript": """\
exports.partition = (key, partitions) => {
  const m = 0x5bd1e995
  let h = 0x9747b28c ^ key.length, i = 0
  for (; i + 4 <= key.length; i += 4) {
    let k = Math.imul(key.readInt32LE(i), m)
    k = Math.imul(k ^ (k >>> 24), m)
    h = Math.imul(h, m) ^ k
  }
  if (i < key.length) {
    for (let j = key.length - 1; j >= i; j -= 1) h ^= key[j] << (8 * (j - i))
    h = Math.imul(h, m)
  }
  h = Math.imul(h ^ (h >>> 13), m)
  return ((h ^ (h >>> 15)) & 0x7fffffff) % partitions
}
""",
    "go": """\
package main

func partition(key []byte, partitions int) int {
	const m = uint32(0x5bd1e995)
	h, i := uint32(0x9747b28c)^uint32(len(key)), 0
	for ; i+4 <= len(key); i += 4 {
		k := uint32(key[i]) | uint32(key[i+1])<<8 | uint32(key[i+2])<<16 | uint32(key[i+3])<<24
		k *= m
		h = h*m ^ (k^k>>24)*m
	}
	if i < len(key) {
		for j := len(key) - 1; j >= i; j-- {
			h ^= uint32(key[j]) << (8 * (j - i))
		}
		h *= m
	}
	h = (h ^ h>>13) * m
	return int((h^h>>15)&0x7fffffff) % partitions
}
""",
}
NAMES = {"python": ("run.py", "mine.py"), "javascript": ("run.js", "mine.js"), "go": ("run.go", "mine.go")}
RUNS = {
    "python": [sys.executable, "-B", "run.py"],
    "javascript": ["node", "run.js"],
    "go": ["go", "run", "run.go", "mine.go"],
}


@pytest.mark.parametrize("language", MINE)
def test_runner_on_cases_page_exits_0_for_the_java_hash_and_1_for_another_mask(language: str, tmp_path: Path) -> None:
    if shutil.which(RUNS[language][0]) is None:
        pytest.skip(f"{RUNS[language][0]} is not installed")
    runner, mine = NAMES[language]
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (tmp_path / runner).write_text(block, encoding="utf-8")
    written = CliRunner().invoke(app, ["cases", "--write", str(tmp_path / "kafka-cases"), "--rules", RULE])
    assert written.exit_code == 0, written.output
    for hashed, code in ((MINE[language], 0), (MINE[language].replace("0x7fffffff", "0x3fffffff")
                                               .replace("0x7FFFFFFF", "0x3FFFFFFF"), 1)):  # fmt: skip
        (tmp_path / mine).write_text(hashed, encoding="utf-8")
        ran = subprocess.run(RUNS[language], cwd=tmp_path, check=False, capture_output=True, text=True, timeout=300)
        assert ran.returncode == code, ran.stdout[-500:] + ran.stderr[-500:]
        assert re.search(r"^0 of \d+ cases differ$", ran.stdout, re.MULTILINE) if code == 0 else "Kafka:" in ran.stdout


def test_every_file_of_cases_is_valid_by_schema_of_rule_and_listed_in_manifest() -> None:
    files = {str(path): text for path, text in case_files(list(RULES.values()), case_sets(), every_era=False)}
    manifest = json.loads(files["manifest.json"])
    assert manifest["set"] == case_sets().newest.name
    assert set(manifest["files"]) == {path for path in files if path.endswith("cases.json")}
    assert {path.partition("/")[0] for path in manifest["files"]} == set(RULES)
    for path, count in manifest["files"].items():
        document = json.loads(files[path])
        assert len(document["cases"]) == count > 0
        schema = json.loads(files[f"{document['rule']}/schema.json"])
        few = {**document, "cases": document["cases"][:: max(1, count // 40)]}
        jsonschema.Draft202012Validator(schema).validate(few)
        assert document["releases"][-1] == path.split("/")[1]


def test_withdrawn_case_is_left_out_of_files_and_listed_in_manifest() -> None:
    def files(sets: object) -> dict[str, str]:
        made = case_files([RULES["sequence-increment"]], sets, every_era=False)  # type: ignore[arg-type]
        return {str(path): text for path, text in made}

    (path,) = [name for name in files(case_sets()) if name.endswith("cases.json")]
    first = json.loads(files(case_sets())[path])["cases"][0]["id"]
    gone = Withdrawn(first, "sequence-increment", "2026-11-29", "wrong")
    sets = type(case_sets())(case_sets().sets, (gone,))
    assert first not in files(sets)[path]
    assert json.loads(files(sets)["manifest.json"])["withdrawn"][0]["id"] == first


def test_every_era_case_files_have_a_folder_per_release_range_named_by_newest_release() -> None:
    made = case_files([RULES["default-partitioner"]], case_sets(), every_era=True)
    folders = {path.parts[1] for path, _ in made if path.name == "cases.json"}
    assert len(folders) == 4
    assert "3.9.2" in folders


def test_cases_command_without_folder_prints_name_and_hash_of_each_set() -> None:
    ran = CliRunner().invoke(app, ["cases"])
    assert ran.exit_code == 0
    newest = case_sets().newest
    assert f"{newest.name}: {newest.cases:,} cases of {len(newest.rules)} rules" in ran.output
    assert newest.sha256 in ran.output
