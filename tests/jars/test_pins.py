"""``releases.toml``: the one that ships, what is refused of others, and adding a release to one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_jars.errors import JarError, PinsUnreadable
from kafka_jars.pins import PINS_FILE, Jar, load, pin

A, B, C, D, E = ("0a" * 32, "0b" * 32, "0c" * 32, "0d" * 32, "0e" * 32)
SMALL = f"""\
# Said at the top.
[beside]
"org.slf4j:slf4j-api:1.7.36" = "{A}"

[compiler]
"org.eclipse.jdt:ecj:3.40.0" = "{B}"

[coverage]
"org.jacoco:org.jacoco.agent:0.8.14" = "{D}"

[connector."4.0"]
"org.apache.kafka:kafka-clients:3.9.0" = "{B}"

[releases."3.9.2"]
"org.apache.kafka:kafka-clients:3.9.2" = "{C}"

[releases."3.9.2".broker]
"org.apache.kafka:kafka-storage:3.9.2" = "{E}"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "releases.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_every_release_published_since_0_10_0_0_is_pinned() -> None:
    lines = """0.10.0: 2, 0.10.1: 2, 0.10.2: 3, 0.11.0: 4, 1.0: 3, 1.1: 2, 2.0: 2, 2.1: 2, 2.2: 3, 2.3: 2, 2.4: 2, 2.5: 2,
        2.6: 4, 2.7: 3, 2.8: 3, 3.0: 3, 3.1: 3, 3.2: 4, 3.3: 3, 3.4: 2, 3.5: 3, 3.6: 3, 3.7: 3, 3.8: 2, 3.9: 3, 4.0: 3,
        4.1: 3, 4.2: 3, 4.3: 2, 4.4: 1"""
    published = [
        f"{line}.{patch}" for line, patches in (each.split(": ") for each in lines.split(","))
        for patch in range(int(patches))
    ]  # fmt: skip
    pins = load()
    assert list(pins.releases)[: len(published)] == [version.strip() for version in published]
    for version, jars in pins.releases.items():
        assert jars[0].coordinates == f"org.apache.kafka:kafka-clients:{version}"
    every = [
        jar.sha256 for jars in (*pins.releases.values(), pins.beside, pins.compiler, pins.coverage) for jar in jars
    ]
    assert all(re.fullmatch("[0-9a-f]{64}", sha256 or "") for sha256 in every)
    assert all(pins.is_pinned(version) for version in pins.releases)
    assert set(pins.brokers) == {version for version in pins.releases if not version.startswith("0.10.")}
    assert len(set(every)) == len(every), "a jar's sha256 under two names"


def test_spark_kafka_connector_is_chosen_by_minor_version_and_unknown_spark_raises_jar_error() -> None:
    pins = load()
    assert set(pins.connectors) == {"3.5", "4.0", "4.1"}
    for minor, jars in pins.connectors.items():
        assert pins.connector(f"{minor}.0") == pins.connector(f"{minor}.9.dev1") == jars
        scala = "2.12" if minor == "3.5" else "2.13"
        assert re.fullmatch(rf"org.apache.spark:spark-sql-kafka-0-10_{scala}:{minor}\.\d", jars[0].coordinates)
    with pytest.raises(JarError, match=r"no Kafka connector is pinned for Spark 4\.2\.1: expected 3\.5, 4\.0, 4\.1"):
        pins.connector("4.2.1")


def test_jars_of_a_release_are_listed_before_shared_jars(file: Path) -> None:
    pins = load(file)
    assert pins.is_pinned("3.9.2")
    assert pins.jars("3.9.2") == (
        Jar("org.apache.kafka:kafka-clients:3.9.2", C),
        Jar("org.slf4j:slf4j-api:1.7.36", A),
    )
    assert pins.compiler == (Jar("org.eclipse.jdt:ecj:3.40.0", B),)
    assert pins.coverage == (Jar("org.jacoco:org.jacoco.agent:0.8.14", D),)


def test_broker_jars_are_listed_separately_and_a_release_without_pinned_ones_is_unpinned(file: Path) -> None:
    pins = load(file)
    assert pins.broker("3.9.2") == (Jar("org.apache.kafka:kafka-storage:3.9.2", E),)
    assert pins.broker("3.5.2")[0] == Jar("org.apache.kafka:kafka-storage:3.5.2", None)
    assert pins.broker("0.10.2.2") == ()
    file.write_text(SMALL[: SMALL.index('[releases."3.9.2".broker]')], encoding="utf-8")
    assert not load(file).is_pinned("3.9.2"), "not all of its jars are"


def test_unpinned_release_has_a_jar_without_sha256(file: Path) -> None:
    pins = load(file)
    assert not pins.is_pinned("3.6.1")
    assert pins.jars("3.6.1")[0] == Jar("org.apache.kafka:kafka-clients:3.6.1", None)


def test_file_name_of_a_jar_contains_the_maven_group() -> None:
    assert Jar("org.apache.kafka:kafka-clients:4.4.0").file_name == "org.apache.kafka_kafka-clients_4.4.0.jar"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[beside]", "[beside"),
        ("[beside]", "[besides]"),
        ("[compiler]", "[compilers]"),
        ('[releases."3.9.2"]', "[release]"),
        (f'"org.slf4j:slf4j-api:1.7.36" = "{A}"', '"org.slf4j:slf4j-api:1.7.36" = ""'),
        (A, A[:-1]),
        (A, A.upper()),
        (A, A[:-1] + "g"),
        ("org.slf4j:slf4j-api:1.7.36", "org.slf4j:slf4j-api"),
        ("org.slf4j:slf4j-api:1.7.36", "org.slf4j/../slf4j:api:1.7.36"),
        (SMALL, ""),
        (SMALL, 'releases = 5\nbeside = "x"\ncompiler = "x"'),
    ],
)
def test_malformed_pins_file_raises_one_line_error_with_the_path(file: Path, old: str, new: str) -> None:
    file.write_text(SMALL.replace(old, new), encoding="utf-8")
    with pytest.raises(PinsUnreadable) as raised:
        load(file)
    assert str(file) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [SMALL.replace(f'"{A}"', "5").encode(), SMALL.encode() + b"# \xff"])
def test_pins_file_with_numeric_sha256_or_invalid_utf8_raises_pins_unreadable(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(PinsUnreadable):
        load(file)


def test_missing_pins_file_raises_pins_unreadable_with_the_path(tmp_path: Path) -> None:
    with pytest.raises(PinsUnreadable, match=re.escape(str(tmp_path / "none.toml"))):
        load(tmp_path / "none.toml")
    with pytest.raises(PinsUnreadable):
        pin("4.4.0", {"org.apache.kafka:kafka-clients:4.4.0": D}, tmp_path / "none.toml")


def test_pinning_a_release_keeps_other_entries_and_version_order(file: Path) -> None:
    pin("3.10.0", {"org.apache.kafka:kafka-clients:3.10.0": D}, file)
    pin("0.10.0.1", {"org.apache.kafka:kafka-clients:0.10.0.1": A}, file)
    pin("3.6.1", {"org.apache.kafka:kafka-clients:3.6.1": B}, file, broker={"org.apache.kafka:kafka-storage:3.6.1": D})
    written = file.read_text(encoding="utf-8")
    assert written.startswith(SMALL[: SMALL.index("[releases")])
    assert re.findall(r'^\[releases\."(.+)"\]$', written, re.MULTILINE) == ["0.10.0.1", "3.6.1", "3.9.2", "3.10.0"]
    assert re.findall(r'^\[releases\."(.+)"\.broker\]$', written, re.MULTILINE) == ["3.6.1", "3.9.2"]
    pins = load(file)
    assert pins.broker("3.6.1") == (Jar("org.apache.kafka:kafka-storage:3.6.1", D),)
    assert pins.releases["3.10.0"] == (Jar("org.apache.kafka:kafka-clients:3.10.0", D),)
    assert pins.releases["3.9.2"] == (Jar("org.apache.kafka:kafka-clients:3.9.2", C),)
    assert [path.name for path in file.parent.iterdir()] == ["releases.toml"]


def test_pinning_a_release_in_shipped_file_adds_only_the_new_entry(tmp_path: Path) -> None:
    copy = tmp_path / "releases.toml"
    copy.write_bytes(PINS_FILE.read_bytes())
    pin("3.6.9", {"org.apache.kafka:kafka-clients:3.6.9": D}, copy)
    added = f'[releases."3.6.9"]\n"org.apache.kafka:kafka-clients:3.6.9" = "{D}"\n'
    written = copy.read_text(encoding="utf-8")
    assert added in written
    assert written.replace(added, "").split() == PINS_FILE.read_text(encoding="utf-8").split()


@pytest.mark.parametrize("content", ["[beside", "", 'releases = "x"'])
def test_pinning_into_a_broken_file_leaves_content_unchanged(file: Path, content: str) -> None:
    file.write_text(content, encoding="utf-8")
    with pytest.raises(PinsUnreadable):
        pin("4.4.0", {"org.apache.kafka:kafka-clients:4.4.0": D}, file)
    assert file.read_text(encoding="utf-8") == content


def test_unpinned_release_uses_codec_jars_of_the_preceding_pinned_release(file: Path) -> None:
    for version, made in (("3.6.1", D), ("3.9.2", E)):
        pin(version, {"g:a:1": D}, file, codecs={f"org.xerial.snappy:snappy-java:{version}": made})
    pins = load(file)
    assert pins.codec_jars("3.9.2") == (Jar("org.xerial.snappy:snappy-java:3.9.2", E),)
    assert pins.codec_jars("3.8.1") == (Jar("org.xerial.snappy:snappy-java:3.6.1", D),)
    assert pins.codec_jars("3.6.0") == ()


def test_every_release_pins_lz4_and_snappy_jars_and_zstd_since_2_1() -> None:
    pins = load()
    assert list(pins.codecs) == list(pins.releases)
    for version, jars in pins.codecs.items():
        names = [jar.coordinates.split(":")[1] for jar in jars]
        has_zstd = tuple(map(int, version.split("."))) >= (2, 1)
        assert sorted(names) == sorted(
            [name for name in names if name.startswith("lz4")] + ["snappy-java"] + ["zstd-jni"] * has_zstd
        )
        assert len(names) == 2 + has_zstd


def test_pinned_release_treated_as_unknown_has_broker_and_codec_jars_of_the_model_release() -> None:
    pins = load()
    unknown = pins.as_unknown("4.1.0", "4.0.2")
    assert [jar.coordinates for jar in unknown.broker("4.1.0")] == [
        jar.coordinates.replace(":4.0.2", ":4.1.0") for jar in pins.broker("4.0.2")
    ]
    assert unknown.clients("4.1.0") == pins.clients("4.1.0"), "still held to its sha256"
    assert all(jar.sha256 for jar in unknown.broker("4.1.0"))
    assert unknown.codec_jars("4.1.0") == pins.codec_jars("4.0.2")
    assert unknown.codec_jars("4.4.0") == pins.codec_jars("4.4.0")
    assert unknown.broker_parts("4.1.0") != pins.broker_parts("4.1.0")
    assert unknown.broker("4.4.0") == pins.broker("4.4.0")


def test_unpinned_release_treated_as_unknown_has_broker_sha256_for_shared_jars_only() -> None:
    pins = load()
    unknown = pins.as_unknown("9.0.0", "4.4.0")
    assert unknown.clients("9.0.0") == (Jar("org.apache.kafka:kafka-clients:9.0.0"),)
    assert not unknown.is_pinned("9.0.0")
    shared = [jar for jar in unknown.broker("9.0.0") if not jar.coordinates.endswith(":9.0.0")]
    assert shared
    assert all(jar.sha256 for jar in shared)
    assert not any(jar.sha256 for jar in unknown.broker("9.0.0") if jar.coordinates.endswith(":9.0.0"))
    assert unknown.codec_jars("9.0.0") == pins.codec_jars("4.4.0")


def test_unknown_release_modelled_on_0_10_2_2_has_no_broker_jars() -> None:
    assert load().as_unknown("0.11.0.0", "0.10.2.2").broker("0.11.0.0") == ()
