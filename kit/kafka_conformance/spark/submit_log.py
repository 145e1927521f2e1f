"""Turn off Spark's own log within ``spark-submit``, unless the user has configured it.

By default ``spark-submit`` logs everything to standard error: the kit's lines are lost among a thousand others, and a Ctrl-C
ends with the stacks of the threads that it interrupts. Nothing can be turned off after the Ctrl-C, because the JVM receives
it at the same time. In a JVM that the kit starts, it turns the log off as well.
"""

from __future__ import annotations

from typing import Any

__all__ = ["silence_default_log"]

# The files that Spark brings for those who have none: for each shell and layout another.
_OF_SPARK = "org/apache/spark/log4j2-"


def silence_default_log() -> None:
    """Turn the log of the driver off, if neither ``spark.log.level`` nor a log4j2 file of the user's is set.

    Call it before the session is made. Another logging library than Log4j 2 is left alone.
    """
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # noqa: SLF001  the JVM of spark-submit, before there is a context
    jvm: Any = SparkContext._jvm  # noqa: SLF001
    conf: Any = SparkConf(_jvm=jvm)
    if conf.contains("spark.log.level"):
        return
    # spark-submit has the application configure the log again, which the first line logged does, and undoes every level.
    conf._jconf.initializeLogIfNecessary(False)  # noqa: SLF001
    log4j = jvm.org.apache.logging.log4j
    context = log4j.LogManager.getContext(False)
    if context.getClass().getName() == "org.apache.logging.log4j.core.LoggerContext" and _OF_SPARK in str(
        context.getConfigLocation()
    ):
        log4j.core.config.Configurator.setAllLevels(log4j.LogManager.ROOT_LOGGER_NAME, log4j.Level.OFF)
