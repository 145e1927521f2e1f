"""The rule ``zookeeper-leader-election``."""
