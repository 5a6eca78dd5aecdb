"""Is the release coarser than another release of the same original? (Thesis, Definition 2.3.4 between two releases)

One is coarser when the cell of every row stands for all values that the other one's cell stands for. Where rows are
paired, every row that both have is looked at. Without pairs it can be told where both recoded globally: every value
then has one cell in each, whatever row it is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.coding import CodedPair
from sqlaudit.release.compare.covers import Covered
from sqlaudit.release.compare.pairing import Pairing, Side
from sqlaudit.release.compare.result import Coarser, Recoding
from sqlaudit.reports.figures import plural

_STEP = "beside the other release"
_LOCAL = "a value has several cells, so that it takes to know which rows belong together; give"


@dataclass(frozen=True)
class ReadRelease:
    """One release as it was read: its cells and classes, how it was recoded and how it pairs with the original."""

    side: Side
    coded: CodedPair
    covered: Sequence[Covered]
    classes: Relation
    recoding: Recoding
    pairing: Pairing


def coarser(bench: Bench, release: ReadRelease, other: ReadRelease, name: str) -> Coarser:
    """Which of two releases is coarser, with counts of what is not.

    Args:
        bench: where both are kept. name: what the other release is called.
    """
    if release.pairing.by != "containment":
        beside = _of_pairs(bench, release, other)
    elif Recoding.LOCAL in (release.recoding, other.recoding):
        return Coarser(name, "undecided", f"{_LOCAL} {spelled('key')} or {spelled('by_position', True)}.")
    else:
        beside = _of_values(bench, release, other)
    orders = [
        bench.make(
            f"order_{place}",
            "release/compare/release_cell_order.sql",
            _STEP,
            beside=beside,
            place=place,
            cover=own.cover,
            other_cover=them.cover,
        )
        for place, (own, them) in enumerate(zip(release.covered, other.covered, strict=True), 1)
    ]
    rows = bench.ask("release/compare/release_coarser.sql", _STEP, beside=beside, orders=orders)[0]
    return _said(name, *(int(count or 0) for count in rows))


def _of_pairs(bench: Bench, release: ReadRelease, other: ReadRelease) -> Relation:
    """Rows that both releases have, by their cells in both."""
    keys = [
        {"own": Raw(own), "other": Raw(them)}
        for own, them in zip(release.pairing.release_keys, other.pairing.release_keys, strict=True)
    ]
    columns = [
        {"own": Raw(own.sql), "other": Raw(them.sql)}
        for own, them in zip(release.side.columns, other.side.columns, strict=True)
    ]
    statement = render(
        "release/compare/release_beside.sql",
        bench.engine.dialect,
        step=_STEP,
        keys=keys,
        columns=columns,
        release=Raw(release.side.relation.sql),
        other=Raw(other.side.relation.sql),
    )
    types = [(f"{part}{place}", "VARCHAR") for place in range(1, len(columns) + 1) for part in "gh"]
    seen = bench.count("beside_seen", statement, [*types, ("n", "BIGINT")])
    cells = [
        {"own": own.column.cells, "other": them.column.cells}
        for own, them in zip(release.covered, other.covered, strict=True)
    ]
    return bench.make("beside", "release/compare/release_beside_coded.sql", _STEP, seen=seen, cells=cells)


def _of_values(bench: Bench, release: ReadRelease, other: ReadRelease) -> Relation:
    """Original rows by the cells that their values have in both releases."""
    places = [one.column.place for one in release.covered]
    covers = [
        {"place": one.column.place, "own": one.cover, "other": them.cover}
        for one, them in zip(release.covered, other.covered, strict=True)
    ]
    return bench.make(
        "beside",
        "release/compare/release_beside_values.sql",
        _STEP,
        source=release.coded.original,
        places=places,
        covers=covers,
        classes=release.classes,
        other_classes=other.classes,
    )


def _said(name: str, compared: int, not_coarser: int, not_finer: int) -> Coarser:
    if not compared:
        return Coarser(name, "undecided", "no row can be compared.")
    counts = (compared, not_coarser, not_finer)
    if not not_coarser and not not_finer:
        same = plural(compared, "row that was compared has", "rows that were compared have")
        return Coarser(name, "equal", f"{same} cells of the same values in both.", *counts)
    if not not_coarser:
        other = plural(not_finer, "row is", "rows are")
        return Coarser(name, "coarser", f"every row is as coarse or coarser, {other} coarser.", *counts)
    if not not_finer:
        other = plural(not_coarser, "row is", "rows are")
        return Coarser(name, "finer", f"every row is as fine or finer, {other} finer.", *counts)
    finer = plural(not_coarser, "row has", "rows have")
    reason = f"{finer} a cell that is not coarser, {plural(not_finer, 'row')} one that is not finer."
    return Coarser(name, "neither", reason, *counts)
