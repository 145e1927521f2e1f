"""``kafka-conformance`` and ``python -m kafka_conformance``: an interrupt is one line, also while modules are imported."""

from __future__ import annotations

import sys
from typing import NoReturn

from kafka_conformance.core import interrupts

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command in ``sys.argv``, and end with its exit code."""
    interrupts.install()
    try:
        from kafka_conformance.cli.main import main as run
    except KeyboardInterrupt:
        interrupts.acknowledge()
        sys.stderr.write("kafka-conformance: interrupted: nothing was judged to the end\n")
        sys.exit(2)
    run()


if __name__ == "__main__":
    main()
