"""Synthetic tables that are the original in disguise, and holdouts that are, drawn at random.

The oracle sees the leak before its disguise, and counts in Python what it discloses.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tests.release import synthetic_oracle as oracle

Row = dict[str, Any]
KEYS, TARGET = ("age", "city", "sex"), "ill"
CITIES = ("Aachen", "Berlin", "Celle", "Dresden", "Essen", "Fulda", "Gera", "Halle")
ILLNESSES = ("flu", "asthma", "gout", "eczema", "anaemia")
LIMIT = 0.05


@dataclass(frozen=True, repr=False)
class Leak:
    """An original, a synthetic table made of its rows, a holdout, and what was done to hide it.

    Args:
        plain: the synthetic rows before the disguise. disguises: the names of what was done, with the holdout's last.
        columns: the columns that no disguise touched.
    """

    original: list[Row]
    synthetic: list[Row]
    plain: list[Row]
    holdout: list[Row]
    disguises: tuple[str, ...]
    columns: tuple[str, ...]

    def __repr__(self) -> str:
        """Return what was done, without the rows."""
        return f"Leak({len(self.original)} rows, {len(self.synthetic)} synthetic, {', '.join(self.disguises)})"

    @property
    def disclosed(self) -> float:
        """The share of the original's rows whose illness the synthetic rows disclose before the disguise."""
        return oracle.attribute(self.original, self.plain, KEYS, TARGET)["disco"] or 0.0

    @property
    def replicated(self) -> float:
        """The share of the original's rows that are unique in both tables before the disguise."""
        return oracle.identity(self.original, self.plain, KEYS)["rep_u"] or 0.0

    @property
    def unique(self) -> float:
        """The share of the original's rows that are unique in the columns that no disguise touched."""
        rest = [tuple(row[name] for name in self.columns) for row in self.original]
        return sum(rest.count(row) == 1 for row in rest) / len(rest)


def draw_person(chosen: random.Random, number: int) -> Row:
    """Draw a person."""
    return {
        "id": number,
        "name": f"{chosen.choice('ABCDEFGH')}nna {chosen.choice('KLMNOPQR')}ohl",
        "age": chosen.randrange(18, 90),
        "city": chosen.choice(CITIES),
        "sex": chosen.choice("fm"),
        "ill": chosen.choice(ILLNESSES),
        "score": None if chosen.random() < 0.1 else float(chosen.randrange(400)),
        "note": None if chosen.random() < 0.3 else chosen.choice(("x", "y", "z")),
    }


def arrow_table(rows: list[Row]) -> pa.Table:
    """Return the rows as they are: None, NaN and '' are three values."""
    whole = all(isinstance(row["id"], int) for row in rows)
    kinds = {"id": pa.int64() if whole else pa.float64(), "age": pa.int64(), "score": pa.float64()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in rows[0]])
    return pa.Table.from_pylist(rows, schema)


def blank(name: str) -> Callable[[random.Random, list[Row]], None]:
    """Return a disguise that leaves out a column's values."""

    def disguise(_: random.Random, rows: list[Row]) -> None:
        for row in rows:
            row[name] = None

    return disguise


def set_column(
    name: str, value: Callable[[random.Random, int, Any], Any]
) -> Callable[[random.Random, list[Row]], None]:
    """Return a disguise that sets a column, by the number of the row and its value."""

    def disguise(chosen: random.Random, rows: list[Row]) -> None:
        for number, row in enumerate(rows):
            row[name] = value(chosen, number, row[name])

    return disguise


def shuffle_ids(chosen: random.Random, rows: list[Row]) -> None:
    """Give the numbers of the rows to other rows."""
    numbers = [row["id"] for row in rows]
    chosen.shuffle(numbers)
    for row, number in zip(rows, numbers, strict=True):
        row["id"] = number


def respell(chosen: random.Random, _: int, text: str) -> str:
    """Write a text in another case, with a blank, or as it is."""
    return chosen.choice((text.upper(), text.lower(), f"{text} ", f" {text}", text))


DISGUISES: Mapping[str, tuple[str, Callable[[random.Random, list[Row]], None]]] = {
    "no city": ("city", blank("city")),
    "no age": ("age", blank("age")),
    "no illness": ("ill", blank("ill")),
    "no name": ("name", blank("name")),
    "no score": ("score", blank("score")),
    "one name": ("name", set_column("name", lambda *_: "Anna Kohl")),
    "one city but for a stranger": ("city", set_column("city", lambda _, n, old: old if not n else "Zwickau")),
    "shifted ages": ("age", set_column("age", lambda _, __, old: old + 200)),
    "numbered from 0": ("id", set_column("id", lambda _, n, __: float(n))),
    "numbered on": ("id", set_column("id", lambda _, n, __: n + 5_000)),
    "one number missing": ("id", set_column("id", lambda _, n, __: None if n == 3 else n + 1.0)),
    "numbers restart": ("id", set_column("id", lambda _, n, __: n % 10 + 1)),
    "numbers with gaps": ("id", set_column("id", lambda chosen, n, __: n * 7 + chosen.randrange(7))),
    "numbers of others": ("id", shuffle_ids),
    "names in capitals": ("name", set_column("name", lambda _, __, old: old.upper())),
    "names with blanks": ("name", set_column("name", lambda _, __, old: f"{old} ")),
    "names in any spelling": ("name", set_column("name", respell)),
    "NaN for no score": ("score", set_column("score", lambda _, __, old: float("nan") if old is None else old)),
    "shifted scores": ("score", set_column("score", lambda _, __, old: None if old is None else old + 0.25)),
    "'' for no note": ("note", set_column("note", lambda _, __, old: "" if old is None else old)),
}
HOLDOUTS: Mapping[str, Callable[[random.Random, list[Row]], list[Row]]] = {
    "strangers": lambda chosen, rows: [draw_person(chosen, number) for number in range(len(rows))],
    "the original": lambda _, rows: rows,
    "99% of the original": lambda chosen, rows: [*rows[: len(rows) * 99 // 100], draw_person(chosen, 0)],
    "a bootstrap": lambda chosen, rows: chosen.choices(rows, k=len(rows)),
    "one stranger": lambda chosen, rows: [*rows, draw_person(chosen, 0)],
    "other ids": lambda _, rows: [row | {"id": row["id"] + 900} for row in rows],
    "half of the original twice": lambda _, rows: rows[: len(rows) // 2] * 2,
}


@st.composite
def leaks(draw: st.DrawFn) -> Leak:
    """Draw a leak with up to three disguises."""
    chosen = random.Random(draw(st.integers(0, 2**20)))
    size = draw(st.integers(30, 200))
    original = [draw_person(chosen, number) for number in range(size)]
    strangers = draw(st.sampled_from((0, 0, size // 4)))
    plain = original + [draw_person(chosen, size + number) for number in range(strangers)]
    chosen.shuffle(plain)
    synthetic = [dict(row) for row in plain]
    names = draw(st.lists(st.sampled_from(sorted(DISGUISES)), max_size=3, unique_by=lambda name: DISGUISES[name][0]))
    touched = {"id"}  # a number of the row is no fact of a person
    for name in names:
        column, disguise = DISGUISES[name]
        disguise(chosen, synthetic)
        touched.add(column)
    outside = draw(st.sampled_from(sorted(HOLDOUTS)))
    columns = tuple(name for name in original[0] if name not in touched)
    return Leak(original, synthetic, plain, HOLDOUTS[outside](chosen, original), (*names, outside), columns)
