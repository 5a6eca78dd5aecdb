"""What a local recoding came to. Frozen; reports read it, `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.documents import Documented, key, objects, shown
from sqlaudit.base.result import MeasuredResult
from sqlaudit.release.compare.result import Loss
from sqlaudit.remedies.result import Release
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class RecodeColumn(Documented):
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
    rows_at: tuple[tuple[str, int], ...] = field(default=(), metadata=objects("level", "rows"))


@dataclass(frozen=True)
class Beside(Documented):
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
    named: tuple[tuple[str, str], ...] = field(default=(), metadata=shown(dict))
    classes: int | None = None
    smallest: int | None = field(default=None, metadata=key("smallest_class"))
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class RecodeResult(MeasuredResult, Shown):
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

    schema: ClassVar = "sqlaudit-recode/1"
    shown_by: ClassVar = "sqlaudit.remedies.recode.report:recode_document"
    frame_of: ClassVar = "columns"

    target: str = field(metadata=key("target.name"))
    rows: int = field(metadata=key("target.rows"))
    engine: str = field(default="", metadata=key("target.engine"))
    roles: Mapping[str, Any]
    requirements: tuple[str, ...]
    warn_only: tuple[str, ...] = ()
    method: str
    order: str | None
    seed: int | None
    beta: Fraction | None
    measure: str
    classes: int
    groups: int | None = None
    merges: int = 0
    smallest: int | None = field(default=None, metadata=key("smallest_group"))
    columns: tuple[RecodeColumn, ...]
    losses: tuple[Loss, ...] = ()
    beside: Beside | None = field(default=None, metadata=key("lattice"))
    why: tuple[str, ...] = ()
    release: Release | None = None

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
