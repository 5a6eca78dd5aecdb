"""What random tables look like where a test has few of them."""

from __future__ import annotations

import os

ALL = os.environ.get("SQLAUDIT_CASES") == "all"

LEAST = 1 if ALL else 6
"""How many rows a random table has: of few cases each is to tell something. Tables without rows, or with one, are
tests with a name of their own."""
