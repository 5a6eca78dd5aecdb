"""The privacy models, one class each; `registry.py` has them all by their names."""
