"""The figure of ``skew``: a panel for each scenario, a group of bars for each partition, a colour for each release.

The share that the rule predicts is a short black line across each bar.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.extras import how_to_install
from kafka_conformance.core.files import write_report
from kafka_conformance.verify.skew import SCENARIOS, Seen, SkewScenario
from kafka_reference.releases import Release

__all__ = ["draw", "ready"]

# Okabe and Ito's, distinct for every reader; with more releases, a scale from dark to light.
_FEW = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_GROUP = 0.84
_FORMATS = (".png", ".svg", ".pdf")


def ready(path: Path) -> None:
    """Refuse, before anything is asked, what could not be drawn afterwards. Raises KitError."""
    _figure((1, 1))
    if path.suffix.lower() not in _FORMATS:
        raise BadInput(f"{path} is not a picture: give a name that ends in {' or '.join(_FORMATS)}")


def draw(seen: Sequence[Seen], records: int, path: Path) -> None:
    """Write the figure."""
    releases = sorted({one.release for one in seen})
    colours = dict(zip(releases, _colours(len(releases)), strict=True))
    rows = -(-len(releases) // 8)
    width = max(11.0, 6 + 0.75 * len(releases))
    figure = _figure((width, 7.6 + 0.25 * rows))
    panels = figure.subplots(2, 2, sharey=True).flat
    top = max(max(*one.shares, *map(float, one.expected)) for one in seen)
    for panel, scenario in zip(panels, SCENARIOS, strict=True):
        _panel(panel, scenario, [one for one in seen if one.scenario == scenario], colours)
        panel.set_ylim(0, 100 * top * 1.12)
    figure.suptitle(
        f"Where {records:,} records without a key go, by the real Java classes", fontsize=14, x=0.01, ha="left"
    )
    _legend(figure, colours, rows)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower(), dpi=150)
    write_report(path, picture.getvalue())


def _panel(panel: Any, scenario: SkewScenario, seen: Sequence[Seen], colours: dict[Release, Any]) -> None:
    places = range(scenario.partitions)
    panel.set_title(f"{scenario.title}\n", loc="left", fontsize=11, fontweight="bold")
    panel.text(0, 1.02, scenario.description, transform=panel.transAxes, fontsize=8.5, color="0.35")
    bar = _GROUP / max(1, len(seen))
    for number, one in enumerate(seen):
        at = [place - _GROUP / 2 + bar * (number + 0.5) for place in places]
        panel.bar(at, [100 * share for share in one.shares], bar * 0.92, color=colours[one.release])
        heights = [100 * float(share) for share in one.expected]
        panel.hlines(heights, [x - bar * 0.46 for x in at], [x + bar * 0.46 for x in at], color="black", linewidth=1.6)
    if not seen:
        panel.text(0.5, 0.5, "none of these releases has it", transform=panel.transAxes, ha="center", color="0.35")
    panel.set_xticks(list(places), [f"partition {place}" for place in places], fontsize=8.5)
    panel.set_xlim(-0.6, scenario.partitions - 0.4)
    panel.set_ylabel("share of records, %", fontsize=9)
    panel.yaxis.set_tick_params(labelleft=True, labelsize=8.5)
    panel.grid(axis="y", color="0.9")
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)


def _legend(figure: Any, colours: dict[Release, Any], rows: int) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(color=colour, label=f"Kafka {at}") for at, colour in colours.items()]
    handles.append(Line2D([], [], color="black", linewidth=1.6, label="what its rule predicts"))
    columns = -(-len(handles) // max(1, rows))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def _colours(count: int) -> Sequence[Any]:
    if count <= len(_FEW):
        return _FEW[:count]
    from matplotlib import colormaps

    scale = colormaps["viridis"]
    return [scale(number / (count - 1)) for number in range(count)]


def _figure(size: tuple[float, float]) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise KitError(f"a figure needs matplotlib: {how_to_install('plot')}") from error
    figure = Figure(size, layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1, wspace=0.03, hspace=0.06))
    FigureCanvasAgg(figure)
    return figure
