"""Every implementation answers the same questions; the kit compares the answers with ``kafka_reference`` and Java."""
