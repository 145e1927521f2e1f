"""x"""

THREADS: dict[str, tuple[str, ...]] = {}
