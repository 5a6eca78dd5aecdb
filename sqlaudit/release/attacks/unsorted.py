"""Unsorted matching: two releases of one table in the same order of rows, paired by position.

Whether the pairing is better than chance is tested before anything is made of it; see `chance`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.columns_of import find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, spelled
from sqlaudit.release.attacks.base import SWEENEY, Attack, Scene, chance, of_all, some
from sqlaudit.release.attacks.chance import Paired, shuffled
from sqlaudit.release.attacks.fits import Match, find_matches, named
from sqlaudit.release.attacks.result import Exposure, Figure

MAX_SHUFFLED = 2_000
"""Up to this many positions a column is shuffled; beyond, bounds are used, which then are sharp enough."""
LEVEL = 0.05
"""A pairing is called better than chance when it would be as good by chance at most this often."""


@dataclass(frozen=True)
class ColumnTest:
    """One column under the pairing: its counts, and at most how likely they are by chance (1 where it cannot tell)."""

    label: str
    paired: Paired
    agree: float
    alike: float


class UnsortedMatching(Attack):
    """Pairing two releases by the position of their rows."""

    name: ClassVar[str] = "unsorted_matching"
    title: ClassVar[str] = "Unsorted matching"
    source: ClassVar[str] = SWEENEY

    def lacks(self, scene: Scene) -> str:
        """The other release, columns in common, and an order of rows."""
        if scene.other is None:
            return f"It needs another release of the same table ({spelled('other_release')})."
        if not shared_columns(scene, scene.other):
            return "The other release has none of the columns."
        if scene.request.position is None and not scene.engine.own_workbench:
            return f"Rows have no order here; name a column that numbers them in both releases ({spelled('position')})."
        return ""

    def run(self, scene: Scene) -> Iterator[Exposure]:
        """Whether position pairs better than chance, and what that restores."""
        assert scene.other is not None
        shared = shared_columns(scene, scene.other)
        matches = find_matches(
            scene.engine,
            scene.relation,
            scene.other,
            [(name, name) for name in shared],
            scene.given.nulls,
            about("qi"),
            scene.readers,
            both_ways=True,
        )
        position = _position(scene, scene.other)
        tests = [_test(scene, scene.other, match, position) for match in matches]
        readable = [match for match, test in zip(matches, tests, strict=True) if test.paired.possible]
        merged = _merged(scene, scene.other, matches, readable, position)
        beside = _beside(scene, scene.other, readable, position) if readable else Fraction(0)
        yield self._exposure(scene, tests, merged, beside)

    def _exposure(self, scene: Scene, tests: list[ColumnTest], merged: Mapping[str, int], beside: Fraction) -> Exposure:
        telling = [test for test in tests if test.paired.telling]
        chances = [one for test in telling for one in (test.agree, test.alike)]
        p = min(1.0, len(chances) * min(chances)) if chances else 1.0
        positions, restored = merged["positions"], merged["restored"]
        fitting = Fraction(merged["fitting"], positions) if positions else Fraction(0)
        alike = p <= LEVEL and (fitting > beside or fitting == 1)
        figures: dict[str, Figure] = {
            "positions": positions,
            "chance": p,
            "better_than_chance": p <= LEVEL,
            "rows_fitting": merged["fitting"],
            "rows_fitting_beside": beside,
            "cells_finer_in_other": merged["cells"],
            "rows_finer_in_other": restored,
            "below_k_before": merged["below_before"],
            "below_k_after": merged["below_after"],
        }
        return Exposure(
            attack=self.name,
            title=self.title,
            about=None,
            exposed=restored if alike else 0,
            of=positions,
            unit="rows",
            probability=None,
            highest=None,
            sentence=_sentence(scene, tests, figures, alike=alike),
            figures=figures,
            steps=tuple(_step(test) for test in tests),
            source=self.source,
            note=_note(scene, telling, positions),
            at_most=restored if p <= LEVEL else None,
        )


def shared_columns(scene: Scene, other: Relation) -> list[str]:
    """The quasi-identifiers and sensitive attributes of the release that the other one has, too, by name."""
    names = (*scene.given.quasi_identifiers, *scene.given.sensitive)
    columns = [role.column for role in (*scene.roles.quasi_identifiers, *scene.roles.sensitive)]
    return [name for name, column in zip(names, columns, strict=True) if column and find_column(column, other)]


def _position(scene: Scene, other: Relation) -> list[Any]:
    """The columns that number the rows in each release, empty texts for the order of rows.

    Raises:
        UsageError: a column that is not there, or that numbers two rows alike.
    """
    if scene.request.position is None:
        return ["", ""]
    mine, theirs = scene.request.position
    dialect = scene.engine.dialect
    found = [
        Raw(resolve(mine, scene.relation, dialect, about("position")).sql),
        Raw(resolve(theirs, other, dialect, about("position")).sql),
    ]
    sources: dict[str, Any] = {"source": Raw(scene.relation.sql), "identified": Raw(other.sql)}
    statement = render("release/attacks/attack_keys.sql", dialect, step="positions", key=found, **sources)
    repeated = sum(int(number) for number in scene.engine.run(statement)[0])
    if repeated:
        raise UsageError(
            f"{spelled('position')} must number the rows; {some(repeated, 'rows')} repeat the number of another one."
        )
    return found


def _test(scene: Scene, other: Relation, match: Match, position: list[Any]) -> ColumnTest:
    """The counts of one column, and how likely they are by chance."""
    listed, parameters = named([match], directions=True)
    given: dict[str, Any] = {
        "source": Raw(scene.relation.sql),
        "other": Raw(other.sql),
        "match": listed[0],
        "position": position,
    }
    dialect = scene.engine.dialect
    statement = render("release/attacks/attack_positions.sql", dialect, step=f"positions of {match.label}", **given)
    numbers = [int(number) for number in scene.engine.run(statement, parameters)[0]]
    paired = Paired(*numbers[:6], *(number // 2 for number in numbers[6:]))
    if not paired.telling:
        return ColumnTest(match.label, paired, 1.0, 1.0)
    if paired.positions > MAX_SHUFFLED:
        return ColumnTest(match.label, paired, paired.bound_agree(), paired.bound_alike())
    listed, parameters = named([match])
    codes = render(
        "release/attacks/attack_position_codes.sql",
        dialect,
        step=f"orders of {match.label}",
        **given | {"match": listed[0]},
    )
    return ColumnTest(match.label, paired, *shuffled(scene.engine.run(codes, parameters), scene.request.seed))


def _merged(
    scene: Scene, other: Relation, matches: Sequence[Match], readable: Sequence[Match], position: list[Any]
) -> dict[str, int]:
    """Rows that fit, rows and cells restored, rows in classes of quasi-identifiers below k before and after.

    A column in which no cell can fit any is written in a way that nobody reads, so that it tells nothing of a row.
    """
    listed, parameters = named(matches, directions=True)
    shared = [match.label for match in matches]
    own = [
        (name, one.sql) for name, one in zip(scene.given.quasi_identifiers, scene.roles.quasi_identifiers, strict=True)
    ]
    theirs = [resolve(name, other, scene.engine.dialect, about("other_qi")) for name in scene.request.other_qi]
    statement = render(
        "release/attacks/attack_merged.sql",
        scene.engine.dialect,
        step="both releases by position",
        source=Raw(scene.relation.sql),
        other=Raw(other.sql),
        matches=listed,
        position=position,
        k=scene.request.k,
        readable=[one for one, match in zip(listed, matches, strict=True) if match in readable],
        known=[one["name"] for one, label in zip(listed, shared, strict=True) if label in dict(own)],
        mine_only=[Raw(sql) for name, sql in own if name not in shared],
        theirs_only=[Raw(one.sql) for one in theirs if one.label not in shared],
    )
    names = ("positions", "fitting", "restored", "cells", "below_before", "below_after")
    return dict(zip(names, map(int, scene.engine.run(statement, parameters)[0]), strict=True))


def _beside(scene: Scene, other: Relation, matches: Sequence[Match], position: list[Any]) -> Fraction:
    """The share of rows that fit the next partner, or the last one, whichever is larger."""
    listed, parameters = named(matches)
    statement = render(
        "release/attacks/attack_neighbours.sql",
        scene.engine.dialect,
        step="rows beside each other",
        source=Raw(scene.relation.sql),
        other=Raw(other.sql),
        matches=listed,
        position=position,
    )
    found = scene.engine.run(statement, parameters)
    return max((Fraction(int(fitting), int(pairs)) for pairs, fitting in found if pairs), default=Fraction(0))


def _step(test: ColumnTest) -> dict[str, Figure]:
    paired = test.paired
    return {
        "column": test.label,
        "agree": paired.agree,
        "agree_by_chance": paired.expected_agree,
        "finer_in_other": paired.finer,
        "alike_pairs": paired.alike,
        "alike_pairs_by_chance": paired.expected_alike,
        "chance_of_agreeing": test.agree if paired.telling else None,
        "chance_of_alike": test.alike if paired.telling else None,
    }


def _sentence(scene: Scene, tests: list[ColumnTest], figures: Mapping[str, Figure], *, alike: bool) -> str:
    positions, fitting = int(figures["positions"] or 0), int(figures["rows_fitting"] or 0)
    if not positions:
        return "The releases have no rows in common positions."
    often = _often(figures["chance"])
    if not figures["better_than_chance"]:
        return (
            "Pairing the rows of both releases by position is not better than chance "
            f"(it would be as good in {often} of random orders)."
        )
    best = min(tests, key=lambda test: min(test.agree, test.alike))
    said = (
        "Rows in the same position of both releases agree far more than by chance, most of all in "
        f"{best.label} (as good in {often} of random orders); {of_all(fitting, positions, 'rows')} fit, against "
        f"{chance(float(figures['rows_fitting_beside'] or 0))} of rows beside each other"
    )
    return f"{said}. {_restored(scene, figures)}" if alike else f"{said}, so both may only be sorted alike."


def _restored(scene: Scene, figures: Mapping[str, Figure]) -> str:
    cells, rows = int(figures["cells_finer_in_other"] or 0), int(figures["rows_finer_in_other"] or 0)
    below = int(figures["below_k_after"] or 0)
    return (
        f"If the order is the same, that restores {some(cells, 'cells')} in {some(rows, 'rows')}; {below:,} rows are "
        f"then in classes below {scene.request.k}, against {int(figures['below_k_before'] or 0):,} before. Publish "
        "releases in random order."
    )


def _often(found: Figure) -> str:
    share = float(found or 0)
    return f"at most {share:.2g}" if share >= 1e-6 else "less than one in a million"


def _note(scene: Scene, telling: list[ColumnTest], positions: int) -> str:
    if not telling:
        return "No column has two values on both sides, so no order could be told from chance."
    if positions < scene.rows:
        return f"{some(scene.rows - positions, 'rows')} of the release have no partner."
    return ""
