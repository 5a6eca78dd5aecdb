"""What a report says of the equivalence classes: how large they are, and which few fall short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.frozen import dataclass
from sqlaudit.classes.found import ClassSizes, FailingClass
from sqlaudit.reports.blocks import Column, Facts, Table, Toned
from sqlaudit.reports.figures import count, figure, part, percent

_BANDS = ((1, 1), (2, 2), (3, 4), (5, 10), (11, 19), (20, 99), (100, None))
"""Bounds that rules and practice draw: 1 is unique, 5 and 11 are usual minimum cell sizes, 20 a cautious one."""
_LONGEST = 60
_NUMERIC = ("classes", "persons", "rows", "rows each")
_FIGURES = {
    "distinct_values": "different values {}",
    "largest": "most frequent value {} times",
    "disclosure": "disclosure {}",
    "people_in_population": "people in the population {}",
    "share_of_population": "share of the population {}",
    "highest_belief": "highest belief {}",
    "lowest_belief": "lowest belief {}",
    "psi_lowest": "lowest ψ {}",
    "psi_highest": "highest ψ {}",
    "dont_care_share": "share of the don't-care set {}",
    "largest_category_share": "share of the largest category {}",
}
"""How figures of a class are said."""


def unit_of(result: AuditResult) -> str:
    """What sizes count: persons when there is an entity column, rows otherwise."""
    return "person" if result.roles.get("entity") else "row"


def risk_facts(result: AuditResult) -> Facts | None:
    """The risk of being picked out by somebody who knows that a person is in the table (prosecutor), in words."""
    sizes = result.classes
    if not sizes.count or sizes.min_size is None:
        return None
    average = _mean_risk(sizes)
    highest = f"1 in {count(sizes.min_size)} ({percent(Fraction(1, sizes.min_size))})"
    return Facts(
        (
            ("highest", Toned(highest, "bad" if sizes.min_size == 1 else "plain")),
            ("on average", percent(average)),
            ("alone in their class", _share_below(sizes, 2)),
            ("in classes below 5", _share_below(sizes, 5)),
            ("in classes below 11", _share_below(sizes, 11)),
        )
    )


def size_table(sizes: ClassSizes, unit: str) -> Table:
    """How many classes and rows there are of which size; empty bands are left out."""
    shares = [Column(f"{unit}s", True), Column(f"share of {unit}s", True)]
    heads = [Column("class size"), Column("classes", True), *shares]
    if sizes.per_row:
        heads = [Column("rows that match"), Column("for rows", True), Column("share of rows", True)]
    return Table(tuple(heads), tuple(_band_rows(sizes)))


def failing_table(result: AuditResult) -> Table:
    """The failing classes that were read: one a line with their keys, where the result holds them, else alike ones
    in one line."""
    keyed = any(failing.key is not None for failing in result.failing)
    shown = _Shown(
        persons=unit_of(result) == "person",
        sensitive=len(result.sensitive) > 1,
        keyed=keyed,
        figures=any(failing.figures for failing in result.failing),
    )
    alike = Counter[tuple[tuple[str, str], ...]]()
    for failing in result.failing:
        alike[tuple(shown.cells(failing).items())] += failing.classes
    heads = [title for title, _ in next(iter(alike), ())]
    if keyed:
        return Table(_columns(heads), tuple(tuple(cell for _, cell in cells) for cells in alike))
    rows = tuple((count(classes), *(cell for _, cell in cells)) for cells, classes in alike.items())
    return Table(_columns(["classes", *heads]), rows)


def _columns(titles: list[str]) -> tuple[Column, ...]:
    return tuple(Column(title, title in _NUMERIC) for title in titles)


@dataclass(frozen=True)
class _Shown:
    """Which columns the table of failing classes has."""

    persons: bool
    sensitive: bool
    keyed: bool
    figures: bool

    def cells(self, failing: FailingClass) -> dict[str, str]:
        """The cells of one class by heading."""
        said = [
            _FIGURES[name].format(figure(value)) if name in _FIGURES else f"{name.replace('_', ' ')} {figure(value)}"
            for name, value in failing.figures.items()
            if value is not None
        ]
        cells = {"persons": count(failing.size)} if self.persons else {}
        cells |= {"rows" if self.keyed else "rows each": count(failing.rows)}
        cells |= {"falls short of": ", ".join(failing.fails)}
        cells |= {"sensitive column": failing.sensitive or ""} if self.sensitive else {}
        cells |= {"figures": ", ".join(said)} if self.figures else {}
        return cells | ({"class": key_text(failing.key)} if self.keyed else {})


def key_text(key: Mapping[str, Any] | None) -> str:
    """A class key as `age 34, sex Male`; missing values are said to be missing, long ones are cut."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in (key or {}).items())


def _mean_risk(sizes: ClassSizes) -> Fraction:
    if sizes.per_row:
        return sum((Fraction(rows, size) for size, rows in sizes.sizes), Fraction(0)) / sizes.count
    return Fraction(sizes.count, sizes.members)


def _share_below(sizes: ClassSizes, k: int) -> str:
    _, rows = sizes.below(k)
    return f"{count(rows)} ({part(rows, sizes.members)})"


@dataclass(frozen=True)
class Band:
    """The classes whose sizes lie between two bounds, both included: how many, and their rows or persons."""

    low: int
    high: int | None
    classes: int
    members: int

    @property
    def name(self) -> str:
        """The sizes in words."""
        if self.low == self.high:
            return f"{self.low}"
        return f"{self.low} or more" if self.high is None else f"{self.low} to {self.high}"


def size_bands(sizes: ClassSizes) -> Iterator[Band]:
    """The bands that hold any class, for the table and the picture beside it."""
    for low, high in _BANDS:
        inside = [(s, n) for s, n in sizes.sizes if s >= low and (high is None or s <= high)]
        if inside:
            classes = sum(n for _, n in inside)
            yield Band(low, high, classes, classes if sizes.per_row else sum(s * n for s, n in inside))


def _band_rows(sizes: ClassSizes) -> Iterator[tuple[str, ...]]:
    for band in size_bands(sizes):
        middle = () if sizes.per_row else (count(band.classes),)
        yield band.name, *middle, count(band.members), part(band.members, sizes.members)


def value_text(value: Any) -> str:
    """A value for people: missing ones are said to be missing, the empty text is two quotes, long ones are cut."""
    if value is None:
        return "(missing)"
    text = str(value)
    return '""' if not text else text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
