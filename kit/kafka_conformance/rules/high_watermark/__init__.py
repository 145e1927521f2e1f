"""The rule ``high-watermark``."""
