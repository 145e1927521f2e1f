"""Which questions of sweeps show which mutants: what ``freeze --from`` draws frozen cases out of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kafka_conformance.cases.mutation import WANTED, to_size
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Question
from kafka_conformance.rules import RULES
from kafka_conformance.spark.runs import plan_of
from kafka_conformance.spark.session import Spark
from kafka_conformance.spark.sweep.result import SCHEMA

__all__ = ["kills_in"]


def kills_in(spark: Spark, folders: Sequence[str]) -> Mapping[str, Mapping[str, Sequence[Question]]]:
    """By rule and mutant, the smallest questions that the runs in these folders noted. Raises BadInput.

    A run that was not finished counts too: what a question shows, it shows.
    """
    found: dict[str, dict[str, set[Question]]] = {}
    for folder in folders:
        plan = plan_of(spark, folder)
        if "sweep" not in plan or not plan.get("kills"):
            raise BadInput(f"{folder} holds no sweep that noted kills: run it with --kills")
        rules = [str(part["rule"]) for part in plan["parts"]]
        for part, mutant, question in _rows(spark, folder):
            rule = RULES[rules[part]]
            mine = found.setdefault(rule.slug, {}).setdefault(mutant, set())
            mine.add(msgspec.json.decode(question, type=rule.question))
    return {
        rule: {mutant: sorted(questions, key=to_size)[: WANTED + 1] for mutant, questions in mutants.items()}
        for rule, mutants in found.items()
    }


def _rows(spark: Spark, folder: str) -> list[tuple[int, str, str]]:
    """Part, mutant and question: of each mutant in each part a few, the smallest."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    reading = f"the kills in {folder}"
    rows = spark.call(lambda: spark.session.read.schema(SCHEMA).parquet(f"{folder.rstrip('/')}/chunks/*"), reading)
    smallest = Window.partitionBy("part", "mutant").orderBy(f.length("question"), "question")
    kills = rows.selectExpr("part", "inline(kills)").distinct().withColumn("place", f.row_number().over(smallest))
    kept = kills.where(f.col("place") <= WANTED + 1).select("part", "mutant", "question")
    return [tuple(row) for row in spark.call(kept.collect, reading)]
