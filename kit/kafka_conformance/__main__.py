"""``python -m kafka_conformance``."""

from kafka_conformance.cli.main import main

main()
