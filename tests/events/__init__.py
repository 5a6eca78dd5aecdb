"""Tests of persons in many rows."""
