"""Where a policy's lines are, as services that show annotations want to hear it."""

from __future__ import annotations

import os
from pathlib import Path

from sqlaudit.gates.result import Place


def relative(place: Place, root: Path) -> str:
    """The file with forward slashes, relative to the root of the repository where it lies below it."""
    file = Path(os.path.normpath(Path(place.file).absolute()))
    found = file.relative_to(root) if file.is_relative_to(root) else file
    return found.as_posix()
