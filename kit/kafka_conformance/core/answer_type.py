"""The type of a rule's answers, for documentation and tests: answers themselves are plain JSON objects.

``rules/<package>/answer.py`` defines ``ANSWER``, the answer to a question that does not throw, and, for a rule with steps,
``STEPS``: the answer to each kind of step. A kind of step that is not in ``STEPS`` is answered by ``{}``. ``ENTRIES`` has
the types of entries of those lists that also hold exceptions, by the field of the answer. A rule whose steps are classes
(``core.step``) has no such file: ``Step.answer`` is the type.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import TypeAlias

import msgspec

from kafka_conformance.core.protocol import Question

__all__ = ["AnswerType", "StepTypes"]


class AnswerType(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields of an answer. A field that is ``UNSET`` by default may be absent."""


StepTypes: TypeAlias = Mapping[type[Question], type[AnswerType] | UnionType]
