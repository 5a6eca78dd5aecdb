"""Conditions that link columns by OR and NOT, so that no product over columns tells whether they hold.

Such a condition is a formula over atoms, each about one quasi-identifier or about other columns. Values of a column
that its atoms cannot tell apart are counted together: a signature has a digit for each atom, 1 = true, 0 = false,
2 = unknown, as SQL has it. A formula is then decided for each combination of signatures that occurs, so that rows that
satisfy several of its parts are counted once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import sqlglot
from sqlglot import exp

from sqlaudit.base.errors import UsageError

MOST_ATOMS = 20
"""Atoms about one column, at most: a signature has to be a whole number."""
MOST_COMBINATIONS = 200_000
"""Combinations of signatures that formulas are decided for, at most."""
OTHERS = 0
"""The place of what is about no quasi-identifier: it is the same in original and release."""
Formula = tuple[Any, ...]
"""("atom", place, number), ("not", formula), or ("and" or "or", formula, formula, …)."""


@dataclass(frozen=True)
class Linked:
    """The linked conditions of a query: formulas that must all hold, and the SQL of their atoms by place."""

    formulas: tuple[Formula, ...]
    atoms: Mapping[int, tuple[str, ...]]

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the quasi-identifiers in them."""
        return tuple(sorted(place for place in self.atoms if place != OTHERS))

    def met(self, occurring: Mapping[int, Sequence[int]], option: str) -> list[tuple[int, ...]]:
        """The combinations of signatures for which all conditions hold: of `places`, then of the others (0 if none).

        Raises:
            UsageError: there are too many combinations to decide.
        """
        order = (*self.places, OTHERS)
        domains = [occurring.get(place, (0,)) for place in order]
        size = 1
        for domain in domains:
            size *= max(1, len(domain))
        if size > MOST_COMBINATIONS:
            raise UsageError(
                f"{option}: its conditions tell more than {MOST_COMBINATIONS:,} kinds of rows apart; link fewer "
                "columns by OR, or ask in several queries."
            )
        return [one for one in product(*domains) if self._hold(dict(zip(order, one, strict=True)))]

    def _hold(self, signatures: Mapping[int, int]) -> bool:
        return all(truth(formula, signatures) == 1 for formula in self.formulas)


def link(conditions: Sequence[str], dialect: str, place_of: Callable[[str], int | None], option: str) -> Linked | None:
    """What links columns in some conditions, None when there are none.

    Args:
        conditions: their SQL. place_of: the place of the quasi-identifier of a name, None for another column.

    Raises:
        UsageError: an atom is about several quasi-identifiers, or has too many beside it.

    Example:
        >>> found = link(["a > 1 OR NOT b = 2"], "duckdb", {"a": 1, "b": 2}.get, "query 1")
        >>> found.formulas, dict(found.atoms)
        ((('or', ('atom', 1, 0), ('atom', 2, 0)),), {1: ('a > 1',), 2: ('NOT b = 2',)})
        >>> found.met({1: [0, 1], 2: [0, 2]}, "query 1")
        [(1, 0, 0), (1, 2, 0)]
    """
    if not conditions:
        return None
    atoms: dict[int, list[str]] = {}

    def read(node: Any) -> Formula:
        places = {place_of(column.name) or OTHERS for column in node.find_all(exp.Column)}
        if len(places) < 2:
            place = places.pop() if places else OTHERS
            known = atoms.setdefault(place, [])
            text = node.sql(dialect=dialect)
            if text not in known:
                known.append(text)
            return ("atom", place, known.index(text))
        if isinstance(node, exp.Paren):
            return read(node.this)
        if isinstance(node, exp.Not):
            return ("not", read(node.this))
        if isinstance(node, exp.And | exp.Or):
            return ("and" if isinstance(node, exp.And) else "or", *(read(part) for part in node.flatten()))
        raise UsageError(
            f"{option}: a comparison is about one quasi-identifier, or about other columns; one of them mixes them. "
            "Link comparisons by AND, OR and NOT."
        )

    formulas = tuple(read(sqlglot.parse_one(text, dialect=dialect)) for text in conditions)
    if max(len(found) for found in atoms.values()) > MOST_ATOMS:
        raise UsageError(f"{option}: has more than {MOST_ATOMS} comparisons of one column that are linked by OR.")
    return Linked(formulas, {place: tuple(found) for place, found in sorted(atoms.items())})


def truth(formula: Formula, signatures: Mapping[int, int]) -> int:
    """1, 0, or 2 for unknown, by SQL's logic of three values.

    Example:
        >>> truth(("or", ("atom", 1, 0), ("not", ("atom", 1, 1))), {1: 2 + 3 * 0})
        1
    """
    kind, *parts = formula
    if kind == "atom":
        place, number = parts
        digit: int = signatures[place] // 3 ** int(number) % 3
        return digit
    found = [truth(part, signatures) for part in parts]
    if kind == "not":
        return {0: 1, 1: 0}.get(found[0], 2)
    decisive = 0 if kind == "and" else 1
    return decisive if decisive in found else 2 if 2 in found else 1 - decisive
