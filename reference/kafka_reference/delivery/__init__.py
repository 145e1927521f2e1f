"""From a record that an application sends to the log: what is lost, doubled, or out of order, fault by fault."""
