"""The program ``kafka-conformance``, also as ``python -m kafka_conformance``.

The imports of a command take half a second. What ends a run in order comes first: a Ctrl-C meanwhile is one line.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from kafka_conformance.core import interrupts


def main() -> NoReturn:
    """Run the command line; exits with its code."""
    try:
        interrupts.install()
        from kafka_conformance.cli.main import main as run
    except KeyboardInterrupt:
        interrupts.acknowledge()
        os.write(2, b"kafka-conformance: interrupted: nothing was judged to the end\n")
        sys.exit(2)
    except BaseException as error:  # an incomplete installation is not a verdict: Python's exit code is 1
        if isinstance(error, SystemExit) and error.code == 2:  # a system without POSIX signals: said already
            raise
        os.write(
            2, f"kafka-conformance: cannot be loaded: {type(error).__name__}: {error}: install it again\n".encode()
        )
        sys.exit(2)
    run()


if __name__ == "__main__":
    main()
