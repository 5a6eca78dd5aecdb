"""Losses: what a release lost against its original, measure by measure."""
