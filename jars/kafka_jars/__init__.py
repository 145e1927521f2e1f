"""The jars of every Kafka release the proof runs against: which, where from, and that they are those and no others.

``releases.toml`` pins each jar's coordinates and sha256 (:mod:`kafka_jars.pins`); :mod:`kafka_jars.store` keeps them in
one folder of the user's cache and looks at the sha256 every time; :mod:`kafka_jars.ivy` brings a missing one by the Ivy
that is inside Spark's JVM. ``oracle/`` holds the Java half of the bridge, as source.
"""

from pathlib import Path

__all__ = ["ORACLE_SOURCES"]

ORACLE_SOURCES = Path(__file__).parent / "oracle"
