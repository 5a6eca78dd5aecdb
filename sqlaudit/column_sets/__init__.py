"""Sets of columns that re-identify: search in the lattice of column sets."""
