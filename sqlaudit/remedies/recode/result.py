"""What a local recoding came to. Frozen; reports read it, `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.documents import plain
from sqlaudit.base.result import Timing
from sqlaudit.release.compare.result import Loss
from sqlaudit.remedies.result import Release
from sqlaudit.reports.notebook import Shown

SCHEMA = "sqlaudit-recode/1"


@dataclass(frozen=True)
class RecodeColumn:
    """A quasi-identifier.

    Args:
        name: as it was given. height: its highest level; 0 = it is kept as it is. form: how its hierarchy was written.
        use: `generalize`, `keep`, or `drop` for a column that is left out. values: different ones in the table.
        rows_at: (level, rows of the release whose cell lies there), from the finest level on; empty without a recoding.
    """

    name: str
    height: int
    form: str
    use: str
    values: int | None = None
    rows_at: tuple[tuple[str, int], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The column as the JSON has it."""
        return {
            "name": self.name,
            "height": self.height,
            "form": self.form,
            "use": self.use,
            "values": self.values,
            "rows_at": [{"level": level, "rows": rows} for level, rows in self.rows_at],
        }


@dataclass(frozen=True)
class Beside:
    """The best full-domain node for the same requirements: every column at one level.

    Args:
        measure: the loss that it minimizes. complete: whether the search was finished; else a better one may be there.
        why: why there is none. levels: of the node. named: what they do to each column.
        classes, smallest: its equivalence classes, and the rows of the smallest one. losses: as those of the recoding.
    """

    measure: str
    complete: bool
    why: tuple[str, ...] = ()
    levels: tuple[int, ...] | None = None
    named: tuple[tuple[str, str], ...] = ()
    classes: int | None = None
    smallest: int | None = None
    losses: tuple[Loss, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The node as the JSON has it."""
        return {
            "measure": self.measure,
            "complete": self.complete,
            "why": list(self.why),
            "levels": None if self.levels is None else list(self.levels),
            "named": dict(self.named),
            "classes": self.classes,
            "smallest_class": self.smallest,
            "losses": [loss.to_dict() for loss in self.losses],
        }


@dataclass(frozen=True)
class RecodeResult(Shown):
    """What a local recoding came to.

    Args:
        target: the table's name. rows: its rows. roles: of columns. requirements: as they were written; `warn_only`
            those that decide nothing.
        method: `kaca` or `mondrian`. order, seed, beta: which class KACA merges next, what drew it (None = nothing was
            drawn), and the exponent of its weights; None for Mondrian.
        measure: the loss that is named first.
        classes: equivalence classes of the table. columns: the quasi-identifiers, those that are left out last.
        groups: classes of the release; None when there is none. merges: of classes, 0 for Mondrian.
        smallest: rows of the smallest group. losses: by the measures of `compare`.
        beside: the best node of the lattice, None when nobody asked. release: as it was audited, and written.
        why: why there is no recoding, in sentences.
        engine, access, time, statements, versions: where the result comes from.
    """

    shown_by: ClassVar = "sqlaudit.remedies.recode.report:recode_document"

    target: str
    rows: int
    roles: Mapping[str, Any]
    requirements: tuple[str, ...]
    method: str
    order: str | None
    seed: int | None
    beta: Fraction | None
    measure: str
    classes: int
    columns: tuple[RecodeColumn, ...]
    warn_only: tuple[str, ...] = ()
    groups: int | None = None
    merges: int = 0
    smallest: int | None = None
    losses: tuple[Loss, ...] = ()
    beside: Beside | None = None
    release: Release | None = None
    why: tuple[str, ...] = ()
    engine: str = ""
    access: str = ""
    time: str = ""
    statements: tuple[Timing, ...] = field(default=(), repr=False)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether there is a recoding that satisfies the requirements."""
        return self.release is not None

    def loss(self, measure: str, sensitive: str | None = None) -> Loss:
        """The loss of all quasi-identifiers together under a measure.

        Raises:
            KeyError: there is none.
        """
        for one in self.losses:
            if one.measure == measure and one.column is None and sensitive in (None, one.sensitive):
                return one
        raise KeyError(measure)

    def to_dict(self) -> dict[str, Any]:
        """The result as the documented JSON (`sqlaudit/remedies/recode/schema.json`)."""
        return {
            "schema": SCHEMA,
            "versions": dict(self.versions),
            "time": self.time,
            "access": self.access,
            "target": {"name": self.target, "rows": self.rows, "engine": self.engine},
            "roles": dict(self.roles),
            "requirements": list(self.requirements),
            "warn_only": list(self.warn_only),
            "method": self.method,
            "order": self.order,
            "seed": self.seed,
            "beta": plain(self.beta),
            "measure": self.measure,
            "classes": self.classes,
            "groups": self.groups,
            "merges": self.merges,
            "smallest_group": self.smallest,
            "columns": [column.to_dict() for column in self.columns],
            "losses": [loss.to_dict() for loss in self.losses],
            "lattice": self.beside.to_dict() if self.beside else None,
            "why": list(self.why),
            "release": self.release.to_dict() if self.release else None,
            "statements": [timing.to_dict() for timing in self.statements],
        }
