"""What every command stands on: the protocol, rules, sources of questions, and the stream of judgements."""
