"""Whether curves can be drawn here."""

from __future__ import annotations

import importlib.util

from sqlaudit.base.errors import MissingDriver

HINT = "Drawing needs matplotlib: pip install 'sqlaudit[plot]'."


def check_drawing() -> None:
    """Whether curves can be drawn here, before any work begins.

    Raises:
        MissingDriver: matplotlib is not installed.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDriver(HINT)
