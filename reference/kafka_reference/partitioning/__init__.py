"""Which partition a record goes to: by key, and, for records without one, every partitioner Kafka has had."""
