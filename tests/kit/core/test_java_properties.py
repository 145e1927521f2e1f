"""Properties are read as java.util.Properties reads them; the expected values are those of Java 17."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.java_properties import parse_properties, read_properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ("a = b \nc:d\re f\r\n", {"a": "b ", "c": "d", "e": "f"}),
        ("# a=b\n ! c=d\n\n  \t\n e=#f", {"e": "#f"}),
        ("a=1\na=2", {"a": "2"}),
        ("a", {"a": ""}),
        ("=b", {"": "b"}),
        ("a==b", {"a": "=b"}),
        ("a : = b", {"a": "= b"}),
        (r"a\ b\=c=d\:e", {"a b=c": "d:e"}),
        ("a=b\\\n   c\\\n\td", {"a": "bcd"}),
        ("a=b\\\n# c", {"a": "b# c"}),
        ("\\\n# b\nc=d", {"c": "d"}),
        ("\\\n\nc=d", {"c": "d"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a=b\\", {"a": "b"}),
        (r"a=\u00e9\t\n\q\"", {"a": 'é\t\nq"'}),
        ('sasl.jaas.config=x.Y required \\\n  username="u" \\\n  password="p=w;\\\\";\n',
         {"sasl.jaas.config": 'x.Y required username="u" password="p=w;\\";'}),
    ],
)  # fmt: skip
def test_properties_are_parsed_as_java_util_properties(text: str, expected: dict[str, str]) -> None:
    assert parse_properties(text) == expected


def test_properties_file_is_decoded_as_latin_1(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"password=\xe9\n")
    assert read_properties("--command-config", str(tmp_path / "f")) == {"password": "é"}


def test_missing_or_malformed_properties_file_error_is_one_line_without_values(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^--command-config /no/such cannot be read: No such file or directory$"):
        read_properties("--command-config", "/no/such")
    (tmp_path / "f").write_text("a=1\n\npassword=s3cret\\u12")
    with pytest.raises(
        BadInput, match=r"^--command-config .* is not a file of Java properties: line 3: \\u is not"
    ) as raised:
        read_properties("--command-config", str(tmp_path / "f"))
    assert "s3cret" not in str(raised.value)
