"""Without pyspark, Spark is refused in one sentence that says what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

TEXT = """
import sys
sys.modules["pyspark"] = None
from sqlaudit.engines import connect
from sqlaudit.base.errors import MissingDriver
try:
    connect(sys.argv[1])
except MissingDriver as missing:
    print(missing)
"""


@pytest.mark.parametrize("db", ["spark:local", "spark://host:7077", "sc://host:15002"])
def test_a_missing_driver_is_said_in_one_sentence(db: str) -> None:
    ran = subprocess.run([sys.executable, "-c", TEXT, db], text=True, capture_output=True, timeout=60, check=True)
    assert ran.stdout == "Spark needs the package pyspark: pip install 'sqlaudit[spark]'.\n"
