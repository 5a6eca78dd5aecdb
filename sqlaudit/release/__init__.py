"""A release beside its original and beside what an attacker may hold: losses, use, attacks."""
