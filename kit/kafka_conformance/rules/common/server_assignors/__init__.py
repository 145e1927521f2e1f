"""What the rules of the coordinator's assignors share: questions, answers, labels, strategies, spaces and explanations."""
