"""Unsorted matching: two releases of one table in the same order of rows, paired by position.

Whether the pairing is better than chance is tested before anything is made of it; see `chance`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlaudit.attack_result import Exposure, Figure
from sqlaudit.columns_of import find_column, resolve
from sqlaudit.engines.base import Relation
from sqlaudit.errors import UsageError
from sqlaudit.release.attacks.base import SWEENEY, Attack, Scene
from sqlaudit.release.attacks.chance import Paired, shuffled
from sqlaudit.release.attacks.fits import Match, find_matches, named
from sqlaudit.release.attacks.words import of_all, some
from sqlaudit.sql import Raw, render

MAX_SHUFFLED = 2_000
"""Up to this many positions a column is shuffled; beyond, bounds are used, which then are sharp enough."""
LEVEL = 0.05
"""A pairing is called better than chance when it would be as good by chance at most this often."""

_NEARLY_CERTAIN = math.nextafter(1, 0)


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
            return "It needs another release of the same table (--other-release)."
        if not shared_columns(scene, scene.other):
            return "The other release has none of the columns."
        if scene.request.position is None and not scene.engine.can_materialize:
            return "Rows have no order here; name a column that numbers them in both releases (--position)."
        return ""

    def run(self, scene: Scene) -> Iterator[Exposure]:
        """Whether position pairs better than chance, and what that restores."""
        assert scene.other is not None
        shared = shared_columns(scene, scene.other)
        matches = find_matches(
            scene.engine, scene.relation, scene.other, [(name, name) for name in shared], scene.given.nulls, "--qi",
            scene.readers, both_ways=True,
        )  # fmt: skip
        position = _position(scene, scene.other)
        tests = [_test(scene, scene.other, match, position) for match in matches]
        yield self._exposure(scene, tests, _merged(scene, scene.other, matches, position))

    def _exposure(self, scene: Scene, tests: list[ColumnTest], merged: Mapping[str, int]) -> Exposure:
        telling = [test for test in tests if test.paired.telling]
        chances = [chance for test in telling for chance in (test.agree, test.alike)]
        p = min(1.0, len(chances) * min(chances)) if chances else 1.0
        believed = p <= LEVEL
        cells = sum(test.paired.finer for test in tests)
        positions = merged["positions"]
        figures: dict[str, Figure] = {
            "positions": positions, "chance": p, "better_than_chance": believed,
            "cells_finer_in_other": cells, "rows_finer_in_other": merged["restored"],
            "below_k_before": merged["below_before"], "below_k_after": merged["below_after"],
        }  # fmt: skip
        return Exposure(
            attack=self.name, title=self.title, about=None, exposed=merged["restored"] if believed else 0, of=positions,
            unit="rows", probability=min(1 - p, _NEARLY_CERTAIN) if believed else None, highest=None,
            sentence=_sentence(scene, tests, figures), figures=figures, steps=tuple(_step(test) for test in tests),
            source=self.source, note=_note(scene, telling, positions),
        )  # fmt: skip


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
        Raw(resolve(mine, scene.relation, dialect, "--position").sql),
        Raw(resolve(theirs, other, dialect, "--position").sql),
    ]  # fmt: skip
    sources: dict[str, Any] = {"source": Raw(scene.relation.sql), "identified": Raw(other.sql)}
    statement = render("attack_keys.sql", dialect, step="positions", key=found, **sources)
    repeated = sum(int(number) for number in scene.engine.run(statement)[0])
    if repeated:
        raise UsageError(f"--position must number the rows; {some(repeated, 'rows')} repeat the number of another one.")
    return found


def _test(scene: Scene, other: Relation, match: Match, position: list[Any]) -> ColumnTest:
    """The counts of one column, and how likely they are by chance."""
    listed, parameters = named([match], directions=True)
    given: dict[str, Any] = {
        "source": Raw(scene.relation.sql), "other": Raw(other.sql), "match": listed[0], "position": position,
    }  # fmt: skip
    dialect = scene.engine.dialect
    statement = render("attack_positions.sql", dialect, step=f"positions of {match.label}", **given)
    numbers = [int(number) for number in scene.engine.run(statement, parameters)[0]]
    paired = Paired(*numbers[:6], *(number // 2 for number in numbers[6:]))
    if not paired.telling:
        return ColumnTest(match.label, paired, 1.0, 1.0)
    if paired.positions > MAX_SHUFFLED:
        return ColumnTest(match.label, paired, paired.bound_agree(), paired.bound_alike())
    listed, parameters = named([match])
    codes = render(
        "attack_position_codes.sql", dialect, step=f"orders of {match.label}", **given | {"match": listed[0]}
    )
    return ColumnTest(match.label, paired, *shuffled(scene.engine.run(codes, parameters), scene.request.seed))


def _merged(scene: Scene, other: Relation, matches: tuple[Match, ...], position: list[Any]) -> dict[str, int]:
    """Rows restored, and in classes of quasi-identifiers below k before and after."""
    listed, parameters = named(matches, directions=True)
    shared = [match.label for match in matches]
    own = [
        (name, one.sql) for name, one in zip(scene.given.quasi_identifiers, scene.roles.quasi_identifiers, strict=True)
    ]
    theirs = [resolve(name, other, scene.engine.dialect, "--other-qi") for name in scene.request.other_qi]
    statement = render(
        "attack_merged.sql", scene.engine.dialect, step="both releases by position", source=Raw(scene.relation.sql),
        other=Raw(other.sql), matches=listed, position=position, k=scene.request.k,
        known=[one["name"] for one, label in zip(listed, shared, strict=True) if label in dict(own)],
        mine_only=[Raw(sql) for name, sql in own if name not in shared],
        theirs_only=[Raw(one.sql) for one in theirs if one.label not in shared],
    )  # fmt: skip
    names = ("positions", "below_before", "below_after", "restored")
    return dict(zip(names, map(int, scene.engine.run(statement, parameters)[0]), strict=True))


def _step(test: ColumnTest) -> dict[str, Figure]:
    paired = test.paired
    return {
        "column": test.label, "agree": paired.agree, "agree_by_chance": paired.expected_agree,
        "finer_in_other": paired.finer, "alike_pairs": paired.alike, "alike_pairs_by_chance": paired.expected_alike,
        "chance_of_agreeing": test.agree if paired.telling else None,
        "chance_of_alike": test.alike if paired.telling else None,
    }  # fmt: skip


def _sentence(scene: Scene, tests: list[ColumnTest], figures: Mapping[str, Figure]) -> str:
    positions, restored = int(figures["positions"] or 0), int(figures["rows_finer_in_other"] or 0)
    if not positions:
        return "The releases have no rows in common positions."
    if not figures["better_than_chance"]:
        return (
            "Pairing the rows of both releases by position is not better than chance "
            f"(it would be as good in {_often(figures['chance'])} of random orders)."
        )
    best = min(tests, key=lambda test: min(test.agree, test.alike))
    said = (
        "Both releases have their rows in the same order: pairing by position agrees far more than chance, most of all "
        f"in {best.label} (as good in {_often(figures['chance'])} of random orders)."
    )
    cells = int(figures["cells_finer_in_other"] or 0)
    return (
        f"{said} It restores {some(cells, 'cells')} in {of_all(restored, positions, 'rows')}; "
        f"{int(figures['below_k_after'] or 0):,} rows are then in classes below {scene.request.k}, against "
        f"{int(figures['below_k_before'] or 0):,} before. Publish releases in random order."
    )


def _often(chance: Figure) -> str:
    share = float(chance or 0)
    return f"at most {share:.2g}" if share >= 1e-6 else "less than one in a million"


def _note(scene: Scene, telling: list[ColumnTest], positions: int) -> str:
    if not telling:
        return "No column has two values on both sides, so no order could be told from chance."
    if positions < scene.rows:
        return f"{some(scene.rows - positions, 'rows')} of the release have no partner."
    return ""
