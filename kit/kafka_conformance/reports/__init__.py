"""Writers: what people and machines read of a run."""
