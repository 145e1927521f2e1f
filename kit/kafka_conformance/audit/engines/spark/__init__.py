"""An audit with Spark: the frames of its sources, and what they are judged with."""
