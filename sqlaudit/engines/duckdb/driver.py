"""DuckDB's driver without the layers of Python above it.

The package `duckdb` imports expressions, relations and sources of frames, which takes longer than the database takes
to start, and statements need none of it. They need the compiled module beneath: the same classes, functions
and errors. Frames are read by a layer, which `with_frames` loads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb
else:
    try:
        import _duckdb as duckdb
    except ImportError:  # a DuckDB that is put together in another way
        import duckdb

__all__ = ["DUCKDB_1", "duckdb", "with_frames"]

DUCKDB_1 = duckdb.__version__.startswith("1.")
"""True if DuckDB is older than 2.0 and so detects fewer faults of files."""


def with_frames() -> None:
    """Load the layer that makes frames of pandas, polars and Arrow readable."""
    import duckdb as duckdb_with_frames

    assert duckdb_with_frames
