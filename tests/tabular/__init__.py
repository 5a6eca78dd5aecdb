"""Tests of published tables of counts and sums."""
