"""Everybody is asked the same questions, and the answers are compared: the kit around ``kafka_reference``."""
