"""Spark: sessions of our own or of others."""
