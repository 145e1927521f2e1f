"""``python -m kafka_conformance``."""

from kafka_conformance.cli import main

main()
