"""What a statement of a check returns: its row of figures, or what some tool that runs it understands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.words import spelled


class Returns(StrEnum):
    """The forms of an answer.

    `FIGURES`: one row with the figures of the check under names of their own. `ROW`: one row with the same columns for
    every check (`ROW_COLUMNS`). `VERDICT`: one row with 1 where it passes, else 0. `FAILING_ROWS`: the row of figures
    where it does not pass, else none. `COUNT`: one number, 0 where it passes, else how much falls short, at least 1.
    `METRIC`: the main figure, NULL where nothing is decided.
    """

    FIGURES = "figures"
    ROW = "row"
    VERDICT = "verdict"
    FAILING_ROWS = "failing-rows"
    COUNT = "count"
    METRIC = "metric"


COUNTS = ("classes", "table_rows", "failing_classes", "failing_rows", "undecided_classes", "unusable")
ROW_COLUMNS = ("test_id", *COUNTS, "level", "verdict")
"""The columns of `Returns.ROW`; the figures of rules for cells stand there as `_OF_CELLS` says."""
_OF_CLASSES = {name: name for name in COUNTS}
_OF_CELLS = {
    "classes": "cells",
    "table_rows": "cells",
    "failing_classes": "unsafe_cells",
    "failing_rows": "unsafe_cells",
    "undecided_classes": "undecided_cells",
    "unusable": "hidden_cells",
}


@dataclass(frozen=True)
class AnswerForm:
    """The form of an answer, and what tells it from others in `Returns.ROW`: letters, digits and _."""

    returns: Returns = Returns.FIGURES
    test_id: str = ""

    def parameters(self, *, cells: bool = False) -> Mapping[str, Any]:
        """As the templates take it."""
        wrapped = "" if self.returns is Returns.FIGURES else self.returns.value
        return {"returns": wrapped, "test_id": self.test_id, "row_columns": _OF_CELLS if cells else _OF_CLASSES}

    def refuse_without_limit(self, check: str) -> None:
        """Nothing, where the figures are asked for.

        Raises:
            UsageError: something else is asked of a check without a limit, which has no verdict.
        """
        if self.returns is not Returns.FIGURES:
            raise UsageError(
                f"{check!r} has no limit, so there is no verdict to return; write for instance {check}=5, or use "
                f"{spelled('returns', 'figures')}."
            )
