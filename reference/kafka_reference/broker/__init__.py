"""What a broker keeps of the producers that write to a partition, and what it refuses them."""
