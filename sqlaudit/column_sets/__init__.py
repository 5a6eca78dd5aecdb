"""Which sets of columns re-identify: search in the lattice of column sets."""
