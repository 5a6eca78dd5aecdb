"""From a table to its equivalence classes: inputs, opening, histogram, facts."""
