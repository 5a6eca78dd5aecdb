"""How many original rows lie in the region of each class, and whether that says which class a row went to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlaudit.base.relation import Relation
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.coding import CodedPair
from sqlaudit.release.compare.covers import Covered

MOST_PAIRS = 40_000_000
"""Classes beside the tuples in their region, at most; beyond, regions stay unknown."""
_STEP = "regions of classes"


@dataclass(frozen=True)
class Regions:
    """The regions of all classes.

    Args:
        classes: key, g1, g2, …, n, is_whole. tuples: key, v1, v2, …, n.
        inside: a, c: tuples inside classes that are not suppressed. places: key, n, a: the tuples' numbers in `inside`.
        table: key, n, is_whole, region: original rows in the region of each class.
        disjoint: no original tuple lies in two classes.
    """

    classes: Relation
    tuples: Relation
    inside: Relation
    places: Relation
    table: Relation
    disjoint: bool


def find_classes(bench: Bench, coded: CodedPair, covered: Sequence[Covered]) -> tuple[Relation, Relation]:
    """The different tuples of the original, and the classes of the release."""
    places = [one.column.place for one in covered]
    tuples = bench.make(
        "tuples",
        "release/compare/release_tuples.sql",
        "tuples of the original",
        key="q",
        names=[f"v{p}" for p in places],
        source=coded.original,
    )
    found = bench.make(
        "class_tuples",
        "release/compare/release_tuples.sql",
        "classes of the release",
        key="c",
        names=[f"g{p}" for p in places],
        source=coded.release,
    )
    classes = bench.make(
        "classes",
        "release/compare/release_classes.sql",
        "classes of the release",
        classes=found,
        places=places,
        all_cells=[one.cells for one in covered],
    )
    bench.forget("class_tuples")
    return tuples, classes


def find_regions(
    bench: Bench, coded: CodedPair, covered: Sequence[Covered], tuples: Relation, classes: Relation
) -> Regions | None:
    """The regions, or None when too many tuples lie in too many of them."""
    covers = [one.cover for one in covered]
    overlaps = bench.ask("release/compare/release_overlaps.sql", _STEP, covers=covers, classes=classes)[0]
    if not any(overlaps):
        inside = bench.make(
            "inside", "release/compare/release_homes.sql", _STEP, covers=covers, classes=classes, tuples=tuples
        )
        places = bench.make("places", "release/compare/release_own_places.sql", _STEP, tuples=tuples)
        disjoint = True
    else:
        found = _Prefixes(bench, covered, tuples, classes).inside()
        if found is None:
            return None
        inside, places = found
        disjoint = not bench.ask("release/compare/release_shared.sql", _STEP, inside=inside)[0][0]
    table = bench.make(
        "regions",
        "release/compare/release_regions.sql",
        _STEP,
        classes=classes,
        inside=inside,
        places=places,
        rows=coded.rows,
    )
    return Regions(classes, tuples, inside, places, table, disjoint)


def assigned(bench: Bench, coded: CodedPair, covered: Sequence[Covered], regions: Regions) -> Relation | None:
    """The original rows beside the classes that they must have gone to; None when counts leave a choice."""
    if not regions.disjoint:
        return None
    found = bench.tell(
        "release/compare/release_determined.sql",
        "do counts pair the rows",
        regions=regions.table,
        inside=regions.inside,
        places=regions.places,
    )
    left = coded.missing + int(found["suppressed"])
    one_way = coded.missing == 0 or int(found["suppressed_classes"]) == 0
    if found["unequal"] or found["suppressed_classes"] > 1 or not one_way or int(found["outside"]) != left:
        return None
    return bench.make(
        "assigned",
        "release/compare/release_assigned.sql",
        "rows with their classes",
        original=coded.original,
        placed=regions.places,
        inside=regions.inside,
        classes=regions.classes,
        places=[one.column.place for one in covered],
    )


@dataclass(frozen=True)
class _Prefixes:
    """Joins tuples and classes column by column, so that what cannot meet is dropped early and shared beginnings are
    looked at once."""

    bench: Bench
    covered: Sequence[Covered]
    tuples: Relation
    classes: Relation

    def inside(self) -> tuple[Relation, Relation] | None:
        """(which tuples of atoms lie in which classes, the tuples with their atoms)."""
        bench = self.bench
        atoms = [self._atoms(one) for one in self.covered]
        places = bench.make(
            "places", "release/compare/release_atom_tuples.sql", _STEP, tuples=self.tuples, all_atoms=atoms
        )
        numbers = [one.column.place for one in self.covered]
        tuples = self._start("prefix_tuples", places, "a", [f"a{p}" for p in numbers], "")
        classes = self._start("prefix_classes", self.classes, "key", [f"g{p}" for p in numbers], "NOT is_whole")
        pairs = bench.rows("prefix_pairs", [("class", "BIGINT"), ("tuple", "BIGINT")], [(0, 0)])
        for place in self._order():
            tuples = bench.make(
                "prefix_tuples", "release/compare/release_prefixes.sql", _STEP, source=tuples, column=f"a{place}"
            )
            classes = bench.make(
                "prefix_classes", "release/compare/release_prefixes.sql", _STEP, source=classes, column=f"g{place}"
            )
            pairs = bench.make(
                "prefix_pairs",
                "release/compare/release_prefix_pairs.sql",
                _STEP,
                pairs=pairs,
                classes=classes,
                tuples=tuples,
                cover=bench.kept[f"atom_cover_{place}"],
                cell=f"g{place}",
                atom=f"a{place}",
                limit=MOST_PAIRS + 1,
            )
            if int(bench.ask("base/row_count.sql", _STEP, source=pairs)[0][0]) > MOST_PAIRS:
                return None
        found = bench.make(
            "inside", "release/compare/release_inside.sql", _STEP, pairs=pairs, classes=classes, tuples=tuples
        )
        bench.forget("prefix_pairs", "prefix_tuples", "prefix_classes")
        return found, places

    def _atoms(self, one: Covered) -> Relation:
        place = one.column.place
        atoms = self.bench.make(
            f"atoms_{place}",
            "release/compare/release_atoms.sql",
            _STEP,
            values=one.column.words.relation,
            cover=one.cover,
            classes=self.classes,
            place=place,
        )
        self.bench.make(
            f"atom_cover_{place}", "release/compare/release_atom_cover.sql", _STEP, cover=one.cover, atoms=atoms
        )
        return atoms

    def _start(self, name: str, source: Relation, key: str, names: Sequence[str], condition: str) -> Relation:
        return self.bench.make(
            name,
            "release/compare/release_prefix_start.sql",
            _STEP,
            source=source,
            id=key,
            names=list(names),
            condition=condition,
        )

    def _order(self) -> list[int]:
        """The columns whose cells tell most first."""
        shares = self.bench.ask(
            "release/compare/release_selectivity.sql", _STEP, all_cells=[one.cells for one in self.covered]
        )[0]
        places = [one.column.place for one in self.covered]
        return sorted(places, key=lambda place: (float(shares[place - 1] or 0), place))
