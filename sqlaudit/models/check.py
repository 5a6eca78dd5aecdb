"""One requirement or model, judged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlaudit.base.result import Number, Status, plain


@dataclass(frozen=True)
class Check:
    """One model on one sensitive attribute: the level achieved and, when required, the verdict.

    Args:
        model: the model's name. sensitive: the attribute, None for models that need none.
        parameters: the model's parameters. level: the main number; `math.inf` for infinity, None when undefined.
        levels: every number the model reports, by name. operator: how level and limit compare when it holds.
        required: the limit, None when nothing was required.
        status: the verdict, None when nothing was required.
        failing_classes, failing_rows, failing_share: what falls short; None when nothing was required.
        details: further figures of the model. note: which definition was used, or why nothing can be said.
        text: the requirement as the user wrote it. title: the model's name for people, empty = made from `model`.
    """

    model: str
    sensitive: str | None
    parameters: Mapping[str, Any]
    level: Number | None
    levels: Mapping[str, Number | None]
    operator: str
    required: Number | None = None
    status: Status | None = None
    failing_classes: int | None = None
    failing_rows: int | None = None
    failing_share: float | None = None
    severity: str = "error"
    text: str = ""
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The check as the JSON schema has it."""
        out: dict[str, Any] = {
            "model": self.model,
            "sensitive": self.sensitive,
            "parameters": {k: plain(v) for k, v in self.parameters.items()},
            "level": plain(self.level),
            "levels": {k: plain(v) for k, v in self.levels.items()},
            "operator": self.operator,
            "required": plain(self.required),
            "status": self.status.value if self.status else None,
            "failing_classes": self.failing_classes,
            "failing_rows": self.failing_rows,
            "failing_share": self.failing_share,
            "severity": self.severity,
        }
        if isinstance(self.level, float) and math.isinf(self.level):
            out["infinite"] = True
        if self.title:
            out["title"] = self.title
        if self.note:
            out["note"] = self.note
        if self.details:
            out["details"] = {k: plain(v) for k, v in self.details.items()}
        return out
