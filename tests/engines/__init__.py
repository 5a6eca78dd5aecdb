"""Tests of the engines: what every database must do the same, and what is its own."""
