"""What the rules of the consumer's assignors share: questions, answers, labels, strategies, spaces and explanations."""
