"""tox's own plugin: every environment runs with a cache that begins without anything but jars.

What a run leaves in the user's cache (compiled classes, certificates, examples of Hypothesis) could hide a failure of
the next. Jars are checked at each use, and shared: ``jars`` in the new cache is a link to those of
``KAFKA_CONFORMANCE_CACHE``, else of the user's cache directory. The cache is in the environment's temporary folder, which
tox empties before each run.
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
from tox.plugin import impl
from tox.tox_env.api import ToxEnv


@impl
def tox_before_run_commands(tox_env: ToxEnv) -> None:
    """Make the cache, and name it to the commands."""
    named = os.environ.get("KAFKA_CONFORMANCE_CACHE")
    shared = Path(named) if named else platformdirs.user_cache_path("kafka-conformance", appauthor=False)
    own = tox_env.env_tmp_dir / "cache"
    own.mkdir(parents=True, exist_ok=True)
    jars = (shared.absolute() / "jars").resolve()
    jars.mkdir(parents=True, exist_ok=True)
    if not (own / "jars").exists():
        (own / "jars").symlink_to(jars)
    tox_env.conf["set_env"].update({"KAFKA_CONFORMANCE_CACHE": str(own)}, override=True)
