"""What the blocks of a topic add up to."""
