"""What the rules of the two sticky assignors share: strategies, spaces, labels and everyday questions of groups with a past."""
