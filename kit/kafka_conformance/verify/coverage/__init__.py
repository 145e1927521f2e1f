"""Coverage: which lines and branches of Kafka's own classes the questions of each rule run."""
