"""Which cells of one table fit which cells of another: equal ones, and generalized cells that hold the other one.

Only the different values of one column at a time are looked at, never rows. What fits without being equal goes back to
the database as parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.release.attacks.readers import ColumnReader, Readers
from sqlaudit.release.attacks.request import Pair

MAX_VALUES = 200_000
"""Up to this many different values of a column are compared with generalized cells."""
LOOKS_GENERALIZED = r"\[|\]|[(){}<>≤≥*]|^=-?[0-9.]+ *[-–] *-?[0-9.]+$"
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
SPELLED = {Kind.FLOAT: "float", Kind.DECIMAL: "decimal"}
"""How `text_of` writes numbers of a kind so that a text can equal them."""


@dataclass(frozen=True)
class Match:
    """A column of two tables. `pairs`: (mine, theirs) texts that fit without being equal, with what theirs then is:
    `finer`, `coarser`, or `same` (the same in another spelling, or a NULL that fits anything); None = only equal ones.

    Args:
        label: what the user calls it. mine, theirs: its SQL in each table.
        form, other_form: how values are spelled on each side. null, other_null: the text of NULL on each side.
    """

    label: str
    mine: Resolved
    theirs: Resolved
    form: str
    other_form: str
    null: str
    other_null: str
    pairs: tuple[tuple[str, str, str], ...] | None = None


def named(matches: Sequence[Match], *, directions: bool = False) -> tuple[list[dict[str, Any]], list[Any]]:
    """The matches as templates take them, and the parameters of the statement; three a match with `directions`."""
    listed: list[dict[str, Any]] = []
    parameters: list[Any] = []
    for position, match in enumerate(matches, 1):
        places = [Raw(f"${len(parameters) + further}") for further in (1, 2, 3)[: 3 if directions else 2]]
        listed.append(
            {
                "name": f"m{position}",
                "mine": Raw(match.mine.sql),
                "theirs": Raw(match.theirs.sql),
                "form": match.form,
                "other_form": match.other_form,
                "null": match.null,
                "other_null": match.other_null,
                "listed": None if match.pairs is None else places,
            }
        )
        if match.pairs is not None:
            parameters += [[pair[part] for pair in match.pairs] for part in range(len(places))]
    return listed, parameters


def find_matches(
    engine: Engine,
    mine: Relation,
    theirs: Relation,
    pairs: Iterable[Pair],
    nulls: NullPolicy,
    option: str,
    readers: Readers | None = None,
    *,
    both_ways: bool = False,
) -> tuple[Match, ...]:
    """The columns that two tables are compared by, with the cells that fit.

    Args:
        pairs: the column's name in each table. nulls: what a NULL fits. option: how errors call the names.
        readers: what generalized cells of a column stand for; None = only equal cells fit, whatever they look like.
        both_ways: whether cells of the second table may stand for cells of the first, too.

    Raises:
        UsageError: a column that is not there, a cell that cannot be read, or too many different values.
    """
    found = []
    for left, right in pairs:
        one, other = resolve(left, mine, engine.dialect, option), resolve(right, theirs, engine.dialect, option)
        forms = _forms(one.kind, other.kind)
        null = ("null", "other null") if nulls is NullPolicy.DISTINCT else ("", "")
        match = Match(left, one, other, *forms, *null)
        if readers is not None:
            cells = _Pairs(engine, mine, theirs, match, readers(left))
            match = replace(match, pairs=cells.found(both_ways, nulls is NullPolicy.WILDCARD))
        found.append(match)
    return tuple(found)


def _forms(mine: Kind, theirs: Kind) -> tuple[str, str]:
    """How the values of two columns are spelled so that equal ones are equal texts."""
    if mine in _NUMBERS and theirs in _NUMBERS:
        return ("", "") if mine is theirs is Kind.INTEGER else ("double", "double")
    return SPELLED.get(mine, ""), SPELLED.get(theirs, "")


@dataclass(frozen=True)
class _Pairs:
    """The cells of one column that fit without being equal."""

    engine: Engine
    mine: Relation
    theirs: Relation
    match: Match
    reader: ColumnReader

    def found(self, both_ways: bool, wildcard: bool) -> tuple[tuple[str, str, str], ...] | None:
        """(mine, theirs, direction); None when no cell is generalized and NULL is no wildcard."""
        cells = self._cells(first=True)
        others = self._cells(first=False) if both_ways else []
        if not cells and not others and not wildcard:
            return None
        finer: set[tuple[str, str]] = set()
        coarser: set[tuple[str, str]] = set()
        anything: set[tuple[str, str]] = set()
        if cells or wildcard:
            values = self._texts(first=False)
            finer = self._covered(cells, values)
            anything |= {("", value) for value in values if wildcard}
        if others or wildcard:
            values = self._texts(first=True)
            coarser = {(value, cell) for cell, value in self._covered(others, values)}
            anything |= {(value, "") for value in values if wildcard}
        same = (finer & coarser) | anything
        named = [(finer - same, "finer"), (coarser - same, "coarser"), (same, "same")]
        return tuple((*pair, direction) for pairs, direction in named for pair in sorted(pairs) if pair[0] != pair[1])

    def _covered(self, cells: Sequence[str], values: Sequence[str]) -> set[tuple[str, str]]:
        """(cell, text it stands for), in the spelling of statements; a NULL is covered by what covers everything."""
        if not cells:
            return set()
        kinds = (self.match.theirs.kind, self.match.mine.kind)
        kind = next((kind for kind in kinds if kind is not Kind.TEXT), Kind.TEXT)
        texts = [cell[1:] for cell in cells]
        known = [value[1:] for value in values if value.startswith("=")]
        nulls = [value for value in values if not value.startswith("=")]
        found = {("=" + cell, "=" + value) for cell, value in self.reader.pairs(texts, known, kind)}
        every = {"=" + cell for cell in self.reader.everything(texts)}
        return found | {(cell, value) for cell in every for value in (*nulls, *("=" + value for value in known))}

    def _cells(self, *, first: bool) -> list[str]:
        """The texts of one side that may be generalized cells."""
        mine, theirs = self.match.mine.kind, self.match.theirs.kind
        all_of_them = self.reader.reads_all(mine, theirs) if first else self.reader.reads_all(theirs, mine)
        found = self._texts(first=first, pattern="" if all_of_them else LOOKS_GENERALIZED)
        return [text for text in found if text.startswith("=")]

    def _texts(self, *, first: bool, pattern: str = "") -> list[str]:
        match = self.match
        side = (self.mine, match.mine, match.form, match.null)
        relation, column, form, null = (
            side if first else (self.theirs, match.theirs, match.other_form, match.other_null)
        )
        statement = render(
            "release/attacks/attack_texts.sql",
            self.engine.dialect,
            step=f"values of {match.label}",
            source=Raw(relation.sql),
            column=Raw(column.sql),
            form=form,
            null=null,
            pattern=pattern,
            limit=MAX_VALUES + 1,
        )
        found = [str(row[0]) for row in self.engine.run(statement)]
        if len(found) > MAX_VALUES:
            raise UsageError(
                f"{match.label} has more than {MAX_VALUES:,} different values to compare with generalized cells; "
                "leave it out, or compare by a coarser expression."
            )
        return sorted(found)
