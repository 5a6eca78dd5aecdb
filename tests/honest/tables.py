"""All honest tables, gathered from the modules of each subject."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tests.honest.honest_table import HonestTable


def honest_tables() -> list[HonestTable]:
    """Return the tables of every `*_tables.py` in this folder, which lists them as TABLES."""
    modules = sorted(
        file.stem for file in Path(__file__).parent.glob("*_tables.py") if not file.stem.startswith("test_")
    )
    return [table for module in modules for table in import_module(f"tests.honest.{module}").TABLES]
