"""Comparison of a release with its original: generalization, information loss, answers to queries."""
