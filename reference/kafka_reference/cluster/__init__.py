"""A partition on three brokers: what clients see of it while brokers are paused, killed and started again.

The judge is a real cluster: ``kafka-conformance cluster`` plays the same histories. Nothing is imported here.
"""
