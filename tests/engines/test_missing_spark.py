"""Without pyspark, or what it needs, Spark is refused in one sentence that says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = """
import sys
for name in sys.argv[2:]:
    sys.modules[name] = None
from sqlaudit.engines import connect
from sqlaudit.base.errors import MissingDriver
try:
    connect(sys.argv[1])
except MissingDriver as missing:
    print(missing)
"""


@pytest.mark.parametrize("db", ["spark:local", "spark://host:7077", "sc://host:15002"])
def test_a_missing_driver_is_said_in_one_sentence(db: str) -> None:
    command = [sys.executable, "-c", TEXT, db, "pyspark"]
    ran = subprocess.run(command, text=True, capture_output=True, timeout=60, check=True)
    assert ran.stdout == "Spark needs the package pyspark: pip install 'sqlaudit[spark]'.\n"


@pytest.mark.parametrize(
    ("version", "without", "said"),
    [
        ("3.4.1", (), "pyspark 3.5 or newer, and 3.4.1 is installed. Use a cluster with Spark 3.5 or newer, or "),
        ("3.5.9", ("pyarrow",), "a package that is missing here: pip install 'pyarrow>=16'."),
        ("3.5.9", ("pyarrow.types",), "a package that is missing here: pip install 'pyarrow>=16'."),
        ("3.5.9", ("distutils",), "a package that is missing here: pip install setuptools."),
        ("4.0.0", ("py4j",), "a package that is missing here: pip install py4j."),
    ],
)
def test_a_pyspark_that_is_installed_is_never_replaced(
    tmp_path: Path, version: str, without: tuple[str, ...], said: str
) -> None:
    """It belongs to the cluster. Here it is empty, but for what is imported first."""
    files = {"pyspark/__init__.py": f"__version__ = {version!r}", "pyspark/sql/__init__.py": "", "py4j/__init__.py": ""}
    files |= {
        "pyspark/errors.py": "PySparkException = OSError",
        "py4j/protocol.py": "Py4JError = Py4JJavaError = OSError",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", TEXT, "spark:local", *without]
    ran = subprocess.run(command, text=True, capture_output=True, timeout=60, check=True, env=environment)
    assert ran.stdout.startswith("Spark needs " + said)
    assert "sqlaudit[" not in ran.stdout
