"""Ask a broker crafted requests over its own protocol, and compare its answers with those recorded from Kafka."""
