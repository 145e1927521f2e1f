"""The options of ``audit --repair-to``: which of its actions is asked for, and how."""

from __future__ import annotations

import click
import msgspec

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput

__all__ = ["RepairOptions", "repair_options"]


class RepairOptions(msgspec.Struct, frozen=True):
    """The options of a repair, named as on the command line."""

    repair_to: str = ""
    execute: bool = False
    target_partitions: int | None = None
    follow: bool = False
    follow_until_idle: float | None = None
    keep_staged: bool = False
    map_groups: bool = False
    groups: tuple[str, ...] = ()

    @property
    def follows(self) -> bool:
        """Whether the source is followed."""
        return self.follow or self.follow_until_idle is not None

    def check(self) -> None:
        """Raise BadInput for options that do not go together."""
        copying = {"--target-partitions": self.target_partitions, "--follow": self.follow,
                   "--follow-until-idle": self.follow_until_idle is not None, "--keep-staged": self.keep_staged}  # fmt: skip
        given = [name for name, value in copying.items() if value]
        if not self.repair_to:
            given += ["--execute"] * self.execute + ["--map-groups"] * self.map_groups
            given += ["--group"] * bool(self.groups)
            if given:
                raise BadInput(f"{given[0]} without --repair-to: these options belong to --repair-to TOPIC")
        if self.map_groups and given:
            raise BadInput(
                f"{given[0]} and --map-groups exclude each other: copy the records first, then map the groups"
            )
        if self.groups and not self.map_groups:
            raise BadInput("--group without --map-groups: it names a consumer group whose offsets are mapped")
        if self.follows and not self.execute:
            raise BadInput("--follow writes the new topic: give --execute as well, or leave it out for a dry run")


repair_options = options.collected(
    "repair", RepairOptions,
    click.option("--repair-to", default="", metavar="TOPIC",
                 help="Write the records to this new topic, placed as Java places them; needs --execute."),
    click.option("--execute", is_flag=True,
                 help="With --repair-to: write the new topic, or with --map-groups the offsets (default: dry run)."),
    click.option("--target-partitions", default=None, type=click.IntRange(1, 100_000), metavar="N",
                 help="With --repair-to: partition count of the new topic (default: as the old one)."),
    click.option("--follow", is_flag=True,
                 help="With --repair-to: copy new records as they arrive, until Ctrl-C."),
    click.option("--follow-until-idle", default=None, type=click.FloatRange(min=0), metavar="SECONDS",
                 help="With --repair-to: --follow, and end when no record has arrived for so long."),
    click.option("--keep-staged", is_flag=True,
                 help="With --repair-to: keep the staged copy (default: removed when the new topic is as planned)."),
    click.option("--map-groups", is_flag=True,
                 help="With --repair-to: map committed offsets of consumer groups to the new topic; needs --execute."),
    click.option("--group", "groups", multiple=True, metavar="NAME",
                 help="With --map-groups: this group; repeatable (default: all with offsets of the old topic)."),
)  # fmt: skip
"""Add the options of a repair to a command, which receives them as ``repair``."""
