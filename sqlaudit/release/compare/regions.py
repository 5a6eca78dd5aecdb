"""Which class a row may have gone to, and whether the release is a generalization of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation
from sqlaudit.release.compare.coding import CodedPair, Covered, PairedAttribute
from sqlaudit.release.compare.pairing import Bench
from sqlaudit.release.compare.result import Answer, ColumnFit, Generalization, Recoding

# How many original rows lie in the region of each class, and whether that says which class a row went to.

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
            if bench.number("base/row_count.sql", _STEP, source=pairs) > MOST_PAIRS:
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


# Is the release a generalization of the original (Thesis, Definition 2.3.4), and how were values recoded?
#
# It is one when released rows can be matched with different original rows, each value under its cell and sensitive
# values unchanged. With pairs every row is looked at. Without pairs it is enough, where no tuple lies in two classes,
# that no class holds more rows of a sensitive value than the original has in its region; where regions overlap, too
# many rows still refute it, but nothing short of a matching proves it.

_ROWS_A_STEP = "is it a generalization"


@dataclass(frozen=True)
class GeneralizationFound:
    """The answer, and for each column the rows whose cell is another value than their own."""

    generalization: Generalization
    changed_values: tuple[int, ...]


@dataclass(frozen=True)
class GeneralizationCheck:
    """What the check looks at; `classes` and `regions` as `sqlaudit.release.compare.regions` makes them."""

    bench: Bench
    coded: CodedPair
    covered: Sequence[Covered]
    classes: Relation
    regions: Regions | None

    def found(self) -> GeneralizationFound:
        """The whole answer."""
        misfits = [self._misfits(one) for one in self.covered] if self.coded.paired else None
        columns = tuple(
            self._column(one, None if misfits is None else misfits[place][0]) for place, one in enumerate(self.covered)
        )
        changed = {attribute.label: self._changed(attribute) for attribute in self.coded.sensitive}
        too_many = 0 if self.coded.paired else self._too_many()
        rows = None if misfits is None else self._misfit_rows(misfits)
        answer, reason = self._answer(columns, rows, too_many, changed)
        suppressed = self.bench.number("release/compare/release_suppressed.sql", _ROWS_A_STEP, classes=self.classes)
        general = Generalization(
            answer,
            reason,
            columns,
            rows,
            too_many,
            changed,
            self.coded.foreign,
            self.coded.missing,
            suppressed,
            self._recoding(columns, suppressed),
        )
        return GeneralizationFound(general, tuple(of for _, of in misfits) if misfits else (0,) * len(columns))

    def _misfits(self, one: Covered) -> tuple[int, int]:
        rows, of_values = self.bench.ask(
            "release/compare/release_misfits.sql",
            _ROWS_A_STEP,
            source=self.coded.original,
            place=one.column.place,
            cover=one.cover,
            cells=one.cells,
        )[0]
        return int(rows), int(of_values)

    def _misfit_rows(self, misfits: Sequence[tuple[int, int]]) -> int:
        if not any(rows for rows, _ in misfits):
            return 0
        covers = [one.cover for one in self.covered]
        template = "release/compare/release_misfit_rows.sql"
        return self.bench.number(template, _ROWS_A_STEP, source=self.coded.original, covers=covers)

    def _column(self, one: Covered, misfits: int | None) -> ColumnFit:
        rows = self.bench.ask("release/compare/release_fit.sql", _ROWS_A_STEP, cells=one.cells)
        empty = sum(int(row[4]) for row in rows)
        return ColumnFit(
            one.column.label,
            one.column.height,
            tuple((int(row[0]), int(row[1])) for row in rows),
            sum(int(row[2]) for row in rows),
            one.column.words.values,
            empty if misfits is None else misfits,
            sum(int(row[3]) for row in rows),
            sum(int(row[5]) for row in rows),
            self._split(one),
        )

    def _split(self, one: Covered) -> int:
        """Values with several cells: by pairs, else values that lie in several cells."""
        place = one.column.place
        if self.coded.paired:
            given = {"source": self.coded.original, "classes": self.classes, "place": place}
            return self.bench.number("release/compare/release_split.sql", _ROWS_A_STEP, **given)
        given = {"cover": one.cover, "classes": self.classes, "place": place}
        return self.bench.number("release/compare/release_overlap.sql", _ROWS_A_STEP, **given)

    def _changed(self, attribute: PairedAttribute) -> int:
        if self.coded.paired:
            given = {"source": self.coded.original, "place": attribute.place}
            return self.bench.number("release/compare/release_changed.sql", _ROWS_A_STEP, **given)
        return self.bench.number("release/compare/release_surplus.sql", _ROWS_A_STEP, lanes=attribute.lanes)

    def _too_many(self) -> int:
        """The most that any count refutes."""
        if self.regions is None:
            return self.coded.foreign
        parts = {
            "inside": self.regions.inside,
            "places": self.regions.places,
            "original": self.coded.original,
            "release": self.coded.release,
            "classes": self.classes,
        }
        lanes = [("", ""), *((f"s{a.place}", f"z{a.place}") for a in self.coded.sensitive)]
        found = [
            self.bench.number("release/compare/release_crowded.sql", _ROWS_A_STEP, **parts, own=own, other=other)
            for own, other in lanes
        ]
        return max(self.coded.foreign, *found)

    def _answer(
        self, columns: Sequence[ColumnFit], rows: int | None, too_many: int, changed: dict[str, int]
    ) -> tuple[Answer, str]:
        wrong = _wrong(self.coded, columns, rows, too_many, changed)
        if wrong:
            return Answer.NO, wrong
        if self.coded.paired:
            return Answer.YES, "every released row was compared with its original."
        several = len(self.coded.sensitive) > 1
        if self.regions is not None and self.regions.disjoint and not several:
            return Answer.YES, "no class holds more rows than the original has for it, and no row fits two classes."
        overlap = "sensitive attributes were looked at one by one" if several else "original rows fit several classes"
        return (
            Answer.UNDECIDED,
            f"nothing refutes it, but {overlap}; {spelled('key')} or {spelled('by_position', True)} decides it.",
        )

    def _recoding(self, columns: Sequence[ColumnFit], suppressed: int) -> Recoding:
        levels = [
            self.bench.ask(
                "release/compare/release_kept_levels.sql",
                _ROWS_A_STEP,
                classes=self.classes,
                cells=one.cells,
                place=one.column.place,
            )
            for one in self.covered
        ]
        if any(column.split_values for column in columns):
            return Recoding.LOCAL
        if suppressed and not any(levels):  # nothing but rows whose cells may be anything: every column is at the top
            return Recoding.FULL_DOMAIN
        if all(level == 0 for rows in levels for level, _ in rows):
            return Recoding.NONE
        if all(len(rows) <= 1 and not any(odd for _, odd in rows) for rows in levels):
            return Recoding.FULL_DOMAIN
        return Recoding.GLOBAL


def _wrong(
    coded: CodedPair, columns: Sequence[ColumnFit], rows: int | None, too_many: int, changed: dict[str, int]
) -> str:
    """What refutes that the release is a generalization, as a sentence; empty when nothing does."""
    empty = ", ".join(column.name for column in columns if column.empty_cells)
    verb = "were changed" if coded.paired else "are more than the original has of their value"
    moved = "; ".join(f"{count:,} values of {name} {verb}" for name, count in changed.items() if count)
    foreign = (
        f"{coded.foreign:,} released rows have no original row."
        if coded.paired
        else f"the release has {coded.foreign:,} rows more than the original."
    )
    sentences = (
        (bool(rows), f"{rows or 0:,} rows have a cell that their value does not lie under."),
        (bool(coded.foreign), foreign),
        (bool(empty), f"{empty}: some cells stand for no value of the original."),
        (bool(moved), f"{moved}."),
        (bool(too_many), f"{too_many:,} released rows are more than the original has in the region of their class."),
    )
    return next((sentence for holds, sentence in sentences if holds), "")
