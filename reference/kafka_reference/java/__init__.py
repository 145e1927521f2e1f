"""Java's behaviour where Python's differs: int32 and int64 arithmetic, hash maps, ``ThreadLocalRandom``, CRC-32C."""
