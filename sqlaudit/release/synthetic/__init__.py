"""A synthetic table beside the people that it was made from, and people outside it."""
