"""Which partition a record goes to: by its key, and, without a key, by each of the partitioners Kafka has had."""
