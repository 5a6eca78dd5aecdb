"""Standalone SQL: one SELECT for each check, for any warehouse, written without a connection to anything."""
