"""Random small tables with releases: recoded as a whole or cell by cell, rows missing, cells spelled in many ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.release import oracle

COLUMNS = {"id": "int", "age": "int", "town": "text", "zip": "text", "s": "text", "w": "int"}
RELEASED = {"id": "int", "age": "text", "town": "text", "zip": "text", "s": "text", "w": "int"}
TOWNS = {
    "Ulm": ("south", "land"),
    "Au": ("south", "land"),
    "Kiel": ("north", "land"),
    "Basel": ("south", "abroad"),
    "Graz": ("east", "abroad"),
}
HIERARCHIES: Mapping[str, Any] = {
    "town": {"values": {name: [f"{side} {land}", land] for name, (side, land) in TOWNS.items()}},
    "zip": {"mask": [1, 2]},
}
AGES = [1, 2, 3, 5, 8]
ZIPS = ["10", "11", "12", "21", "23"]
DISEASES = ["flu", "cold", "HIV"]
SEVERITIES = [1, 2, 4, 9]
TREE = {"tree": {"lung": ["flu", "cold"], "blood": ["HIV"]}}


@dataclass(frozen=True)
class Drawn:
    """A case for the oracle, and the same as the package gets it."""

    case: oracle.Case
    local: bool

    @property
    def release(self) -> list[Mapping[str, Any]]:
        return list(self.case.release)

    @property
    def hierarchies(self) -> dict[str, Any]:
        return {column: HIERARCHIES[column] for column in self.case.qi if column in HIERARCHIES}


def age_cells() -> list[tuple[str, frozenset[Any], int]]:
    """Ways to write ages: (cell, values, level); no hierarchy, so that anything coarser lies at level 1."""
    values = [(str(age), frozenset([age]), 0) for age in AGES]
    spans = [
        (f"{low}-{high}", frozenset(age for age in AGES if low <= age <= high), 1)
        for low in AGES
        for high in AGES
        if low < high
    ]
    forms = [
        ("[2, 5)", frozenset([2, 3]), 1),
        ("<3", frozenset([1, 2]), 1),
        ("≥5", frozenset([5, 8]), 1),
        ("{1, 3}", frozenset([1, 3]), 1),
        ("*", frozenset(AGES), 1),
        (">=2", frozenset([2, 3, 5, 8]), 1),
    ]
    return values + spans + forms


def town_cell(town: Any, level: int) -> Any:
    if level == 3:
        return "*"
    if town is None or level == 0:
        return town
    return f"{TOWNS[town][0]} {TOWNS[town][1]}" if level == 1 else TOWNS[town][1]


def zip_cell(code: str, level: int) -> str:
    return {0: code, 1: code[:1] + "*", 2: "**", 3: "*"}[level]


def meanings(towns: list[Any]) -> dict[str, oracle.Meaning]:
    """What every cell means; a town may be missing."""
    town: dict[Any, tuple[frozenset[Any], int]] = {}
    for level in (3, 2, 1, 0):
        for name in towns:
            cell = town_cell(name, level)
            covered = frozenset(other for other in towns if town_cell(other, level) == cell)
            if not (cell is None and level):
                town[cell] = (covered, level)
    zips: dict[Any, tuple[frozenset[Any], int]] = {}
    for level in (3, 2, 1, 0):
        for code in ZIPS:
            cell = zip_cell(code, level)
            zips[cell] = (frozenset(other for other in ZIPS if zip_cell(other, level) == cell), level)
    return {
        "age": oracle.Meaning({cell: (values, level) for cell, values, level in age_cells()}, 1),
        "town": oracle.Meaning(town, 3),
        "zip": oracle.Meaning(zips, 3),
    }


@st.composite
def cases(draw: st.DrawFn, *, sensitive: str = "s", rows: int = 9, keep_all: bool = False) -> Drawn:
    """An original and a release that is a generalization of it; rows of the release are shuffled."""
    qi = draw(st.sampled_from([["age"], ["town"], ["age", "town"], ["zip", "town"], ["age", "town", "zip"]]))
    towns: list[Any] = [*TOWNS, None] if draw(st.booleans()) else list(TOWNS)
    row = st.fixed_dictionaries(
        {
            "age": st.sampled_from(AGES),
            "town": st.sampled_from(towns),
            "zip": st.sampled_from(ZIPS),
            "s": st.sampled_from(DISEASES),
            "w": st.sampled_from(SEVERITIES),
        }
    )
    original = [{"id": place, **one} for place, one in enumerate(draw(st.lists(row, min_size=1, max_size=rows)))]
    local = draw(st.booleans())
    kept = [keep_all or draw(st.integers(0, 5)) > 0 for _ in original]
    levels = {"town": draw(st.integers(0, 3)), "zip": draw(st.integers(0, 3))}
    ages = draw(st.sampled_from(["keep", "split", "*"]))
    release = []
    for one, stays in zip(original, kept, strict=True):
        if not stays:
            continue
        if local:
            levels = {"town": draw(st.integers(0, 3)), "zip": draw(st.integers(0, 3))}
            age = draw(st.sampled_from([cell for cell, values, _ in age_cells() if one["age"] in values]))
        else:
            age = {"keep": str(one["age"]), "split": "<3" if one["age"] < 3 else "3-8", "*": "*"}[ages]
        release.append(
            {
                **one,
                "age": age,
                "town": town_cell(one["town"], levels["town"]),
                "zip": zip_cell(one["zip"], levels["zip"]),
            }
        )
    release = draw(st.permutations(release)) if release else []
    at = {one["id"]: place for place, one in enumerate(release)}
    known = meanings(towns)
    if known["town"] and sum(one["town"] is None for one in release) > sum(one["town"] is None for one in original):
        raise AssertionError("a release never has more missing towns than its original here")
    match = [at.get(one["id"]) for one in original]
    return Drawn(oracle.Case(original, release, qi, known, sensitive, match), local)
