"""The generalization lattice: which levels of its columns make a table safe, and what they cost."""
