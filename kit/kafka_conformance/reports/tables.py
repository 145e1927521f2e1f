"""Tables at a terminal of any width: no word and no number is ever broken.

A table has three forms, of which the first that fits is printed. With room for the longest line of each column, every row
is one line. With room for the longest word of each, text is wrapped between words; numbers are one word. Below that, each
row is a record: its first cell, and a line for every other cell that has something::

    orders-0
      bytes  12,345
      offsets  0 to 119

A word that is longer than the terminal is wide is printed whole: the terminal breaks it, and a copy of it is right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from kafka_conformance.core.sanitize import harmless
from kafka_conformance.core.word_wrap import wrapped

__all__ = ["PlainTable", "table"]

_GAP = 2
_INDENT = "  "
_NOTHING = {"", "-"}


class PlainTable:
    """A table of texts, for ``print`` of a rich console. ``heads`` are empty texts for a table without a head.

    ``right`` are the columns that stand to the right; ``widest`` limits how wide a column becomes, unless it has a longer
    word.
    """

    def __init__(self, title: str, heads: Sequence[str], rows: Iterable[Sequence[str | Text]], *,
                 right: Collection[int] = (), widest: Mapping[int, int] | None = None) -> None:  # fmt: skip
        self.title, self.heads = _text(title), [_text(head) for head in heads]
        self.rows = [[_text(cell) for cell in row] for row in rows]
        self.right, self.widest = right, widest or {}
        self.title.stylize("italic")
        for head in self.heads:
            head.stylize("bold")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table in the form that fits."""
        if self.title.plain:
            yield self.title
        widths = self._widths(options.max_width)
        if widths is None:
            yield from self._records(options.max_width)
            return
        made = Table(box=None, pad_edge=False, show_header=any(head.plain for head in self.heads))
        for column, (head, width) in enumerate(zip(self.heads, widths, strict=True)):
            made.add_column(head, width=width, justify="right" if column in self.right else "left")
        for row in self.rows:
            made.add_row(*row)
        yield made

    def _widths(self, room: int) -> list[int] | None:
        """Return the width of each column, or None if the longest words do not fit side by side."""
        columns = [[head, *(row[column] for row in self.rows)] for column, head in enumerate(self.heads)]
        most = [max(cell_len(line) for cell in cells for line in cell.plain.split("\n")) for cells in columns]
        least = [
            natural if column in self.right else max(cell_len(word) for cell in cells for word in _words(cell))
            for column, (cells, natural) in enumerate(zip(columns, most, strict=True))
        ]
        most = [
            max(shortest, min(natural, self.widest.get(column, natural)))
            for column, (shortest, natural) in enumerate(zip(least, most, strict=True))
        ]
        room -= _GAP * (len(columns) - 1)
        if sum(least) > room:
            return None
        while sum(most) > room:  # one character less for the widest column that can be narrower
            most[max((most[each], each) for each in range(len(most)) if most[each] > least[each])[1]] -= 1
        return most

    def _records(self, width: int) -> Iterator[Text]:
        for first, *rest in self.rows:
            first.stylize_before("bold")
            yield first
            for head, cell in zip(self.heads[1:], rest, strict=True):
                if cell.plain in _NOTHING:
                    continue
                line = Text.assemble((head.plain, "dim"), _INDENT if head.plain else "", cell)
                for part in wrapped(line, width - len(_INDENT)):
                    yield Text(_INDENT).append_text(part)


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> PlainTable:
    """Return a table with columns of numbers to the right."""
    lines = [list(row) for row in rows]
    right = [column for column in range(len(heads)) if lines and all(_is_count(line[column]) for line in lines)]
    return PlainTable(title, heads, lines, right=right)


def _is_count(cell: str) -> bool:
    return cell == "-" or cell.endswith(" %") or cell.replace(",", "").isdigit()


def _text(cell: str | Text) -> Text:
    return cell.copy() if isinstance(cell, Text) else Text(harmless(cell, keep="\n"))


def _words(cell: Text) -> list[str]:
    return cell.plain.split() or [""]
