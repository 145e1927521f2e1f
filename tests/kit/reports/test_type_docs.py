"""Types in words: fields with their types, limits, defaults and docstrings."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
import pytest

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.core.protocol import Hex, Int32, Question
from kafka_conformance.reports.type_docs import anchor, struct_docs, struct_name
from kafka_conformance.rules import RULES
from kafka_conformance.rules.answer_types import answer_types


class AskedInner(Question, frozen=True):
    """An inner
    object."""

    name: str
    """Its ``name``."""


class PairAnswer(AnswerType, frozen=True, array_like=True):
    """Two numbers."""

    first: int
    """The first."""
    last: int | msgspec.UnsetType = msgspec.UNSET
    """The last:

    - ``a``: one
    - ``b``: two
    """


class GoStep(Question, frozen=True, tag_field="op", tag="go"):
    """Go."""


class StopStep(Question, frozen=True, tag_field="op", tag="stop"):
    """Stop."""


class OuterQuestion(Question, frozen=True):
    """Outer."""

    key: Hex | None
    """A key."""
    steps: tuple[GoStep | StopStep, ...]
    """Steps."""
    inner: Annotated[tuple[AskedInner, ...], msgspec.Meta(min_length=1, max_length=9)] = ()
    """Inner ones."""
    mode: Literal["a", "b"] = "a"
    """A mode."""
    size: Annotated[int, msgspec.Meta(ge=-1, le=2**53)] = 5
    """A size."""
    racks: tuple[str | None, ...] | None = None
    """Racks."""
    number: Int32 = 1
    """A number."""


def test_struct_docs_list_type_limits_default_and_docstring_per_field() -> None:
    outer, go, stop, inner = struct_docs(OuterQuestion)
    assert [(field.name, field.type, field.default) for field in outer.fields] == [
        ("key", "hex or null", ""),
        ("steps", "list of [step](#steps)", ""),
        ("inner", "list of [inner](#object-inner), at least 1 and at most 9", "`[]`"),
        ("mode", '`"a"` or `"b"`', '`"a"`'),
        ("size", "-1 to 2^53", "`5`"),
        ("racks", "list of (string or null) or null", "`null`"),
        ("number", "int32", "`1`"),
    ]
    assert [field.meaning for field in outer.fields][:2] == ["A key.", "Steps."]
    assert [(doc.name, doc.op, doc.meaning) for doc in (go, stop)] == [("go", "go", "Go."), ("stop", "stop", "Stop.")]
    assert (inner.name, inner.meaning, inner.fields[0].meaning) == ("inner", "An inner object.", "Its `name`.")


def test_struct_docs_mark_array_like_structs_and_absent_fields() -> None:
    (doc,) = struct_docs(PairAnswer)
    assert doc.is_list
    assert [(field.name, field.default) for field in doc.fields] == [("first", ""), ("last", "absent")]
    assert doc.fields[1].meaning == "The last:<br>`a`: one<br>`b`: two"


def test_struct_name_is_shown_as_lower_case_words_and_heading_anchor_has_hyphens() -> None:
    assert struct_name(AskedInner) == "inner"
    assert struct_name(OuterQuestion) == "outer question"
    assert anchor("Object `producer_id` and epoch") == "object-producer_id-and-epoch"


@pytest.mark.parametrize("slug", RULES)
def test_question_and_answer_types_of_a_rule_have_docstrings(slug: str) -> None:
    roots = [RULES[slug].question, *answer_types(RULES[slug])]
    for doc in (doc for root in roots for doc in struct_docs(root)):
        assert doc.meaning.endswith("."), f"{slug}: give {doc.name} a docstring"
        for field in doc.fields:
            assert field.meaning, f"{slug}: give the field {field.name} of {doc.name} a docstring below it"
            assert field.meaning.endswith(".") or "<br>" in field.meaning
