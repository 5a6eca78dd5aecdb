"""What the pages of docs/ share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages.warm import warm_command


@pytest.fixture(scope="session")
def warm() -> Iterator[Path]:
    """Where a `sqlaudit` is that has been imported already."""
    with tempfile.TemporaryDirectory(prefix="sqlaudit-") as folder, warm_command(Path(folder)) as programs:
        yield programs
