"""A cube: the finest groups of a table that may be published, decided once, so that any query on them may run."""
