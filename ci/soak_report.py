"""What a soak prints, and its page."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from soak_growth import LEAST_ROUNDS, Growth

if TYPE_CHECKING:
    from soak import Record
    from soak_rounds import Settings

__all__ = ["page", "report"]

_CLASSES_SHOWN = 10

_PAGE = """\
# Does the kit leak?

A soak runs `verify` again and again in one process and one JVM, each round with a fresh seed: it opens every release, asks
the rules, and closes it. After each round it forces garbage collections and measures what may leak: the JVM's memory,
threads, classes, class loaders of releases, shutdown hooks, MBeans, buffers and descriptors; the objects that py4j keeps;
memory, threads and descriptors of Python; child processes and temporary files.

```sh
.tox/kit/bin/python ci/soak.py --minutes 30    # in the install that tox makes
```

The first fifth of the rounds is warm-up. In the others, a measure *grows* if its slope (Theil-Sen, 99 % interval) is above
0, if it adds more than its tolerance over all rounds, and if it still grows in the second half: a cache that fills levels
off.

| exit code | meaning |
|---|---|
| 0 | nothing grows |
| 1 | a measure grows: its growth per round, and the classes and types of which most objects were added, are printed |
| 2 | not judged: fewer than {least} rounds after the warm-up, an answer that does not match, or a JVM that ended |

Ctrl-C ends the run early; the rounds until then are judged. `tox -e nightly` runs ten minutes.

## Figures

{facts}

{table}

The JVM's heap has a fixed size whose pages are all touched, and malloc's free memory is trimmed, so the resident memory
shows what grows outside the heap. `.tox/kit/bin/python ci/soak.py --minutes 30 --write kit/docs/soak.md` writes this page.

## What it has found

The first soak found that a closed release was never unloaded: threads of its broker's metrics, shutdown hooks that delete
the folders of its rules, and MBeans kept its class loader. Each opening of a broker kept two threads, 2,500 classes, 17 MB
of metaspace, and native libraries of codecs in the temporary folder. `ReleaseSandbox.close` now ends these threads, runs
these hooks and unregisters these MBeans (`jars/kafka_jars/oracle/host/RetainedObjects.java`).

On Java 21 the class loader still stayed, with 8 MiB of metaspace: `Executors.newSingleThreadExecutor` registers a
cleaner there, which holds the thread factory, and the factory held the loader. The sandbox makes its `ThreadPoolExecutor`
itself now.
"""


def report(growths: Sequence[Growth], added: Counter[str]) -> Iterator[str]:
    """Yield the lines that a run prints; ``added`` are the live objects that were added, by class or type."""
    yield from (f"{' ' if not each.grows else '!'} {each.measure.name}: {_change(each)}" for each in growths)
    growing = [each for each in growths if each.grows]
    if not growing:
        yield "nothing grows"
        return
    for each in growing:
        yield f"{each.measure.name} grows by {_slope(each)} per round"
    yield "live objects added since the third round:"
    yield from (f"  {count:,} {name}" for name, count in added.most_common(_CLASSES_SHOWN))


def page(settings: Settings, record: Record, growths: Sequence[Growth]) -> str:
    """Return the page of a run."""
    heads = "| measure | first | last | per round | tolerance, all rounds | grows |\n|---|--:|--:|--:|--:|---|"
    rows = [heads, *map(_row, growths)]
    facts = "\n".join(f"- {fact}" for fact in _facts(settings, record, len(growths)))
    return _PAGE.format(facts=facts, table="\n".join(rows), least=LEAST_ROUNDS)


def _facts(settings: Settings, record: Record, measures: int) -> Iterator[str]:
    first, last = record.samples[0]["JVM unloaded classes"], record.samples[-1]["JVM unloaded classes"]
    versions = f"JVM {record.jvm.partition(' ')[0]}, Python {platform.python_version()}"
    yield f"Date: {datetime.now(UTC):%Y-%m-%d}. Machine: {_machine()}. {versions}."
    yield (
        f"{len(record.samples)} rounds in {record.seconds / 60:.0f} minutes, seed {settings.seed}; {measures} measures;"
        f" {record.matched:,} of {record.matched:,} answers match; {last - first:,.0f} classes were unloaded."
    )
    yield f"Rules: {', '.join(f'`{rule.slug}`' for rule in settings.rules)}."
    yield f"Releases: {', '.join(map(str, settings.releases))}; {settings.examples} generated questions per rule."


def _machine() -> str:
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = next((line.partition(":")[2].strip() for line in info.splitlines() if line.startswith("model name")), "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores{f' of {model}' if model else ''}, {memory:.0f} GiB, {platform.system()}"


def _row(growth: Growth) -> str:
    measure = growth.measure
    cells = (
        f"{measure.name}{f', {measure.unit}' if measure.unit else ''}", _number(growth.first, measure.unit),
        _number(growth.last, measure.unit), f"{growth.slope:+,.3g} ({growth.low:+,.3g} to {growth.high:+,.3g})",
        f"{measure.tolerance:,}", "**yes**" if growth.grows else "no",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _change(growth: Growth) -> str:
    unit = growth.measure.unit
    return f"{_number(growth.first, unit)} to {_number(growth.last, unit)}, {_slope(growth)} per round"


def _slope(growth: Growth) -> str:
    unit = f" {growth.measure.unit}" if growth.measure.unit else ""
    return f"{growth.slope:+,.3g}{unit} ({growth.low:+,.3g} to {growth.high:+,.3g})"


def _number(value: float, unit: str) -> str:
    return f"{value:,.1f}" if unit else f"{value:,.0f}"
