"""The row patterns of a table as whole numbers: what every remedy decides on. Values stay in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Roles
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.suspects import Written, written_as_they_are

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RemedyTable:
    """The table that a remedy rewrites, as it was opened.

    Args:
        engine: an open engine. relation: the table. roles: its roles, resolved in it. given: as they were given.
        apart: what else tells patterns apart, for instance a sensitive attribute whose values must be spread.
    """

    engine: Engine
    relation: Relation
    roles: ResolvedRoles
    given: Roles
    apart: tuple[Resolved, ...] = ()

    @property
    def keys(self) -> tuple[Resolved, ...]:
        """What patterns are made of: the quasi-identifiers, then what else tells them apart."""
        return (*self.roles.quasi_identifiers, *self.apart)

    def written(self, keep: Sequence[str]) -> Written:
        """What a release of it holds as it is.

        Raises:
            UsageError: a column to keep that is not there or is not published.
        """
        return written_as_they_are(self.engine, self.relation, self.roles.not_published_as_they_are, keep)

    def parameters(self, others: Sequence[str] = ()) -> dict[str, Any]:
        """What the steps in `_remedy.sql` need; `others` are further columns, quoted."""
        return {
            "source": Raw(self.relation.sql),
            "keys": [Raw(key.sql) for key in self.keys],
            "collated": [key.collated for key in self.keys],
            "others": [Raw(name) for name in others],
        }

    def patterns_statement(self) -> Statement:
        """The statement that numbers and counts the patterns.

        Raises:
            UsageError: there are no quasi-identifiers.
        """
        if not self.roles.quasi_identifiers:
            raise UsageError(
                f"Name the quasi-identifiers that are to be rewritten, for instance {spelled('qi', 'age', 'sex')}."
            )
        return render("remedies/remedy_patterns.sql", self.engine.dialect, step="row patterns", **self.parameters())


@dataclass(frozen=True)
class Patterns:
    """The row patterns, in the order of their numbers 1, 2, …

    Args:
        sizes: rows that have each.
        codes: (patterns × keys) the rank of each value in its column, 0 = NULL; the keys are the quasi-identifiers and
            then what else tells patterns apart.
    """

    sizes: Integers
    codes: Integers

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self.sizes.sum())

    def listed(self) -> list[tuple[int, ...]]:
        """One tuple a pattern: its number, its rows, its codes."""
        numbers = np.arange(1, len(self.sizes) + 1)
        table = np.column_stack([numbers, self.sizes, self.codes])
        return [tuple(row) for row in table.tolist()]


def read_patterns(table: RemedyTable) -> Patterns:
    """Number and count the row patterns of a table; nothing in Python grows with its rows.

    Raises:
        UsageError: there are no quasi-identifiers. EngineError: the database refused or failed.

    Example:
        >>> from sqlaudit.engines import connect
        >>> from sqlaudit.classes.opening import resolve_roles
        >>> from sqlaudit.base.spec import Target
        >>> with connect() as engine:
        ...     relation = engine.open(Target(query="SELECT * FROM (VALUES (7, 'x'), (7, NULL), (7, 'x')) AS t(a, b)"))
        ...     roles = Roles(("a", "b"))
        ...     found = read_patterns(RemedyTable(engine, relation, resolve_roles(roles, relation, "duckdb"), roles))
        >>> found.sizes.tolist(), found.codes.tolist()
        ([2, 1], [[1, 1], [1, 0]])
    """
    arrays = table.engine.columns_as_arrays(table.patterns_statement())
    columns = [np.asarray(values, dtype=np.int64) for values in arrays.values()]
    sizes = columns[1] if len(columns) > 1 else np.zeros(0, dtype=np.int64)
    width = len(table.keys)
    codes = np.column_stack(columns[2:]) if len(sizes) else np.zeros((0, width), dtype=np.int64)
    return Patterns(sizes, codes)
