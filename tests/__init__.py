"""The tests: run them with `pytest` from the root of the repository."""
