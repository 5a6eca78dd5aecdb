"""A release beside its original: what it is, what it lost, what queries still get."""
