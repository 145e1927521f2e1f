"""Sending once and only once: what a configuration ends up with, who numbers batches, in which order they may go, and
what is known of those not answered."""
