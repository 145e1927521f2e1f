"""The producer state that a broker keeps for a partition, and what it appends and refuses."""
