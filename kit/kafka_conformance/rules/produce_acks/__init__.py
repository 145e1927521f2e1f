"""The rule ``produce-acks``."""
