"""What the rules of a replicated partition share: steps, answers, labels and mistakes."""
