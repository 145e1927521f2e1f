"""What the producer does with a record between ``send`` and the network: batches, their sizes, their order."""
