"""Sending once and only once: who numbers batches, in which order they may go, and what is known of those not answered."""
