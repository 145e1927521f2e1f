"""Encode and decode the messages of Kafka's protocol by the schemas that a release ships."""
