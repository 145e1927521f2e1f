"""Which rule put each record of a real topic where it is, and what is broken where several did."""
