"""What the rules of the two sticky assignors share: strategies, spaces, labels, mutants and everyday groups."""
