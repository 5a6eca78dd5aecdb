"""Is the release a generalization of the original (Thesis, Definition 2.3.4), and how were values recoded?

It is one when released rows can be matched with different original rows, each value under its cell and sensitive values
unchanged. With pairs every row is looked at. Without pairs it is enough, where no tuple lies in two classes, that no
class holds more rows of a sensitive value than the original has in its region; where regions overlap, too many rows
still refute it, but nothing short of a matching proves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlaudit.base.relation import Relation
from sqlaudit.base.words import spelled
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.coding import CodedPair, PairedAttribute
from sqlaudit.release.compare.covers import Covered
from sqlaudit.release.compare.regions import Regions
from sqlaudit.release.compare.result import Answer, ColumnFit, Generalization, Recoding

_STEP = "is it a generalization"


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
        suppressed = int(self.bench.ask("release/compare/release_suppressed.sql", _STEP, classes=self.classes)[0][0])
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
            _STEP,
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
        return int(
            self.bench.ask("release/compare/release_misfit_rows.sql", _STEP, source=self.coded.original, covers=covers)[
                0
            ][0]
        )

    def _column(self, one: Covered, misfits: int | None) -> ColumnFit:
        rows = self.bench.ask("release/compare/release_fit.sql", _STEP, cells=one.cells)
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
            found = self.bench.ask(
                "release/compare/release_split.sql",
                _STEP,
                source=self.coded.original,
                classes=self.classes,
                place=place,
            )
            return int(found[0][0])
        found = self.bench.ask(
            "release/compare/release_overlap.sql", _STEP, cover=one.cover, classes=self.classes, place=place
        )
        return int(found[0][0])

    def _changed(self, attribute: PairedAttribute) -> int:
        if self.coded.paired:
            found = self.bench.ask(
                "release/compare/release_changed.sql", _STEP, source=self.coded.original, place=attribute.place
            )
        else:
            found = self.bench.ask("release/compare/release_surplus.sql", _STEP, lanes=attribute.lanes)
        return int(found[0][0])

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
            int(self.bench.ask("release/compare/release_crowded.sql", _STEP, **parts, own=own, other=other)[0][0])
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
                _STEP,
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
