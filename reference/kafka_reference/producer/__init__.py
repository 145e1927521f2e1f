"""``KafkaProducer``: what ``send``, ``flush`` and the sender's rounds do together."""
