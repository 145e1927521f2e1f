"""Streams of events to try writers on: each verdict and grade, hostile text in every place a target fills, and cut ones."""

from __future__ import annotations

from typing import Any

from kafka_conformance.core.events import (
    Began,
    Diagnosis,
    Differed,
    Distribution,
    Ended,
    Event,
    Known,
    ProtocolError,
    RuleBegan,
    RuleEnded,
    Stale,
    Target,
)

KIT, RELEASES = "0.1.0", ("3.2.3", "4.4.0")
THREAD = "https://github.com/tulios/kafkajs/issues/1"
SIGN_ABS = Diagnosis("sign-abs", "the sign is dropped by abs", 412, 412, 588, 588, (THREAD,))
SPREAD = Distribution("three partitions, one of them slow", (0, 1, 2), (400.0, 400.0, 200.0), (510, 330, 160), 2.5e-9)
JAVA = "org.apache.kafka.common.utils.Utils.murmur2(byte[])"
LINK = "https://issues.apache.org/jira/browse/KAFKA-2091"

HOSTILE = {
    "script": "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
    "cdata": "]]><owned/>&owned;<!--",
    "escape": "\x1b[2J\x1b]0;owned\x07\x9b31m",
    "nul": "a\x00b\ufffe\uffff",
    "surrogate": "half \ud800 and \udc00 half",
    "set-output": "::set-output name=owned::yes",
    "error": "fine\r\n::error::owned\n##[error]owned\n",
    "pipe": "a | b \\| c ||",
    "backticks": "` `` ``` ```` owned [link](https://owned.example)",
    "fence": "\n```\n# owned\n~~~\n<b>owned</b>\n",
    "link": "javascript:alert(1) [owned](javascript:alert(1)) <https://owned.example> www.owned.example me@owned.example",
    "heading": "# owned\n\n- owned\n\n| a | b |\n|---|---|\n| c | d |\n",
    "bidi": "left \u202e right \u2066 \u200f \U000e0001",
    "percent": "%0A::error::owned %25, title=owned::owned",
    "jinja": "{{ 7 * 7 }} {% raw %}",
    "markup": "[bold red]owned[/] [link=https://owned.example]x[/link]",
    "long": "long " * 20_000,
}


def target(text: str = "franz-go", version: str = "1.22.2") -> Target:
    return Target(text, version, "go", "./driver --java-compatible")


def began(named: Target | None = None) -> Began:
    return Began(KIT, named or target(), RELEASES, ("murmur2", "partition-for-key"), 7, 500)


def ended_rule(rule: str, release: str, verdict: Any, *, grade: Any = "exact", agreed: int = 0, differed: int = 0,
               known: int = 0, failed: int = 0, unsupported: int = 0, **more: Any) -> RuleEnded:  # fmt: skip
    asked = agreed + differed + known + failed
    return RuleEnded(rule, release, grade, verdict, asked, agreed, differed, known, failed, unsupported, asked, 0, 0, 1.25,
                     **more)  # fmt: skip


def differed(rule: str = "murmur2", release: str = "4.4.0", **more: Any) -> Differed:
    given: dict[str, Any] = {
        "id": "90043993ceb72c63", "source": "frozen", "kind": "another hash", "times": 412,
        "question": {"key": "666f6f"}, "expected": {"hash": 597841616}, "actual": {"hash": -1}, "java": JAVA, "link": LINK,
        "file": ".kafka-conformance/failures/90043993ceb72c63.json",
    }  # fmt: skip
    return Differed(rule, release, **{**given, **more})


def script(release: str = "4.4.0", **more: Any) -> Differed:
    """A finding in a rule that is asked by steps: the second of three goes wrong, and one is missing."""
    steps = [
        {"op": "partition", "topic": "t"},
        {"op": "new_batch", "topic": "t", "previous": 2},
        {"op": "partition", "topic": "t"},
    ]
    given: dict[str, Any] = {
        "id": "1f3ec92000000000", "kind": "another partition", "times": 3, "source": "fresh",
        "question": {"cluster": {"nodes": [{"id": 0}], "partitions": [{"id": 0, "leader": 0}]}, "steps": steps},
        "expected": {"steps": [{"partition": 0}, {"partition": 1}, {"partition": 2}]},
        "actual": {"steps": [{"partition": 0}, {"partition": 9}]},
    }  # fmt: skip
    return differed("round-robin-partitioner", release, **{**given, **more})


def conforming() -> list[Event]:
    return [
        began(),
        *(
            event
            for release in RELEASES
            for event in (
                RuleBegan("murmur2", release, "exact", 1000),
                ended_rule("murmur2", release, "agrees", agreed=1000),
            )
        ),
        Ended(0, "every answer matches Java's", 2000, 2000, 0, 0, 0, 0, 2.5),
    ]


def eras() -> list[Event]:
    """Three eras of one rule, the middle one differs, and one of another."""
    rule, spans = "default-partitioner", (("0.10.0.1",), ("0.11.0.3", "1.1.1", "2.3.1"), ("2.4.1", "3.9.2"))
    verdicts: list[Any] = ["agrees", "differs", "agrees"]
    return [
        began(),
        *(
            event
            for era, verdict in zip(spans, verdicts, strict=True)
            for event in (
                RuleBegan(rule, era[-1], "exact", 10, era),
                *([differed(rule, era[-1])] if verdict == "differs" else []),
                ended_rule(rule, era[-1], verdict, agreed=9, differed=verdict == "differs"),
            )
        ),
        RuleBegan("murmur2", "3.9.2", "exact", 10, tuple(release for era in spans for release in era)),
        ended_rule("murmur2", "3.9.2", "agrees", agreed=10),
        Ended(1, "an answer differs", 38, 37, 1, 0, 0, 0, 2.5),
    ]


def everything() -> list[Event]:
    """Each verdict, each grade, a distribution, findings known and new, protocol_errors, a stale entry; it differs."""
    known = Known("they round down", "https://github.com/twmb/franz-go/issues/1", "2027-01-01")
    events: list[Event] = [began()]
    for release in RELEASES:
        events += [
            RuleBegan("murmur2", release, "exact", 1000),
            differed(release=release, diagnosis=SIGN_ABS),
            ended_rule("murmur2", release, "differs", agreed=588, differed=412, diagnoses=(SIGN_ABS,)),
            RuleBegan("partition-for-key", release, "exact", 500),
            ended_rule("partition-for-key", release, "agrees", agreed=500),
            RuleBegan("round-robin-partitioner", release, "exact", 20),
            script(release),
            ended_rule("round-robin-partitioner", release, "differs", agreed=17, differed=3),
            RuleBegan("builtin-partitioner", release, "admissible", 40),
            ended_rule("builtin-partitioner", release, "unsupported", grade="admissible", unsupported=40),
            RuleBegan("sticky-distribution", release, "statistical", 3),
            ended_rule("sticky-distribution", release, "differs", grade="statistical", agreed=2, differed=1,
                       distribution=SPREAD),
            RuleBegan("record-sizes", release, "exact", 10),
            differed("record-sizes", release, kind="another size", times=2, question={"magic": 2}, expected={"bytes": 9},
                     actual={"bytes": 8, "why": "rounded"}, known=known, file=""),
            ended_rule("record-sizes", release, "known", agreed=8, known=2),
            RuleBegan("sequence-increment", release, "exact", 10),
            ProtocolError("sequence-increment", release, "failed", "IndexError: list index out of range",
                    "answer, or say unsupported", 4, "7c1e0b5a9d3f2468", {"sequence": 7, "by": 3}, {"sequence": 10},
                    ".kafka-conformance/failures/7c1e0b5a9d3f2468.json"),
            ended_rule("sequence-increment", release, "errored", agreed=6, failed=4),
            RuleBegan("delivery", release, "exact", 10),
            ProtocolError("delivery", release, "noise", "it printed: starting up", "print to standard error only"),
            ended_rule("delivery", release, "crashed", agreed=1, failed=9),
        ]  # fmt: skip
    events += [
        Stale("murmur2 0123456789abcdef", "stale", "remove it: the target agrees by now"),
        Ended(1, "832 answers differ", 3100, 2244, 832, 4, 20, 80, 9.75),
    ]
    return events


def hostile(text: str) -> list[Event]:
    """A target that says ``text`` wherever it can say anything, also where only a forged stream could."""
    answer = {"hash": text, text or "empty": {text or "empty": [text]}}
    known = Known(text, text, text)
    diagnosis = Diagnosis(text, text, 1, 2, 0, 0, (text,))
    spread = Distribution(text, (0, 1), (1.0, 1.0), (2, 0), 0.5)
    release = RELEASES[1]
    return [
        began(Target(text, text, text, text)),
        RuleBegan("murmur2", release, "exact", 2),
        differed(kind=text, actual=answer, diagnosis=diagnosis, file=text, link=text, java=text),
        differed(kind=text, actual=answer, known=known, question={"key": text}),
        script(actual={"steps": [text, {text or "empty": text}], text or "empty": text}),
        ProtocolError("murmur2", release, text, text, text, 2, text, {"key": text}, answer, text),
        ended_rule("murmur2", release, "differs", differed=2, diagnoses=(diagnosis,), distribution=spread),
        Stale(text, text, text),
        Ended(1, text, 2, 0, 2, 0, 0, 0, 0.1),
    ]


def cut() -> list[Event]:
    """A gate that was killed within its second rule."""
    return everything()[:5]


def crashed() -> list[Event]:
    """Nothing could be judged: exit code 2."""
    return [
        began(),
        RuleBegan("murmur2", "4.4.0", "exact", 1000),
        ProtocolError("murmur2", "4.4.0", "never-hello", "nothing within 10 s", "answer the hello"),
        ended_rule("murmur2", "4.4.0", "crashed", failed=1000),
        Ended(2, "the target never said hello", 1000, 0, 0, 0, 1000, 0, 10.0),
    ]


def only_known() -> list[Event]:
    events = [event for event in everything() if getattr(event, "rule", "record-sizes") == "record-sizes"]
    return [
        *(event for event in events if not isinstance(event, Stale | Ended)),
        Ended(0, "it differs only in what is known", 20, 16, 0, 4, 0, 0, 2.5),
    ]


def only_stale() -> list[Event]:
    stale = Stale("murmur2 0123456789abcdef", "stale", "remove it: the target agrees by now")
    return [*conforming()[:-1], stale, Ended(1, "an entry of the known failures is stale", 2000, 2000, 0, 0, 0, 0, 2.5)]


ALL = {
    "conforming": conforming(),
    "everything": everything(),
    "empty": [],
    "cut": cut(),
    "crashed": crashed(),
    "known": only_known(),
    "stale": only_stale(),
    **{f"hostile {name}": hostile(text) for name, text in HOSTILE.items()},
}
