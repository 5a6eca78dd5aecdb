"""Reports of the lattice: what its pictures show, and the numbers beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.lattices.report import grid_picture, grid_table, heights_table, nodes_picture
from sqlaudit.lattices.result import LatticeResult
from sqlaudit.reports.document import Picture, Table, text_of
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.page import render_html
from sqlaudit.reports.text import render_text
from tests.reports.schemas import validator

PEOPLE = pd.DataFrame({"age": [30, 31, 35, 38, 52, 57], "sex": list("fmfmff"), "dx": list("aabbab")})
WIDE = pd.DataFrame({name: [1, 2, 3, 9, 17, 30] for name in ("a", "b", "c")})
LEVELS = {"widths": [2, 4, 8]}


def small(find: str = "minimal") -> LatticeResult:
    """Six nodes: (2, 0), (2, 1) and (1, 1) are safe."""
    return sqlaudit.lattice(
        PEOPLE, qi=["age", "sex"], require="k=2", suppress="17%", find=find, hierarchies={"age": {"widths": [10]}}
    )


@pytest.fixture(scope="module")
def large() -> LatticeResult:
    """125 nodes."""
    names = ("a", "b", "c")
    return sqlaudit.lattice(
        WIDE, qi=names, require="k=2", suppress="50%", find="all", hierarchies=dict.fromkeys(names, LEVELS)
    )


def pictures(result: LatticeResult) -> Iterator[Picture]:
    for part in document_of(result).sections:
        yield from (block for block in part.blocks if isinstance(block, Picture))


def test_verdicts_are_those_of_the_nodes() -> None:
    found = small("all")
    safe = {node.levels for node in found.safe_nodes}
    assert safe == {(1, 0), (1, 1), (2, 0), (2, 1)}
    assert list(found.every_node()) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert found.verdicts == (False, False, True, True, True, True)
    assert [found.verdict(node) for node in found.every_node()] == list(found.verdicts)
    assert found.verdict((3, 0)) is None
    assert found.to_dict()["lattice"]["verdicts"] == "uussss"
    without = replace(found, verdicts=())
    assert [without.verdict(node) for node in ((1, 0), (0, 0))] == [True, False]  # from the walk
    chain = sqlaudit.lattice(PEOPLE, qi=["age"], require="k=2", find="chain")
    assert (chain.verdicts, chain.to_dict()["lattice"]["verdicts"]) == ((), None)


def test_what_follows_from_the_minimal_nodes_is_known_too() -> None:
    assert small("minimal").verdicts == small("all").verdicts
    stopped = sqlaudit.lattice(PEOPLE, qi=["age", "sex"], require="k=2", time_budget=0, hierarchies={"age": "*"})
    assert stopped.verdicts == (None,) * 4
    assert stopped.to_dict()["lattice"]["verdicts"] == "????"
    assert (nodes_picture(stopped), heights_table(stopped)) == (None, None)
    validator("lattice").validate(stopped.to_dict())


def test_a_small_lattice_is_drawn_node_by_node() -> None:
    drawn = nodes_picture(small())
    assert drawn is not None
    kinds = {node["name"]: (node["y"], node["kind"]) for node in drawn.data["nodes"]}
    assert kinds == {
        "0,0": (0, "unsafe"),
        "0,1": (1, "unsafe"),
        "1,0": (1, "best"),
        "1,1": (2, "safe"),
        "2,0": (2, "safe"),
        "2,1": (3, "safe"),
    }
    assert {tuple(edge) for edge in drawn.data["edges"]} == {
        ("0,0", "0,1"),
        ("0,0", "1,0"),
        ("0,1", "1,1"),
        ("1,0", "1,1"),
        ("1,0", "2,0"),
        ("1,1", "2,1"),
        ("2,0", "2,1"),
    }
    table = heights_table(small())
    assert table is not None
    assert table.rows == (("0", "1", "0", "1"), ("1", "2", "1", "1"), ("2", "2", "2", "0"), ("3", "1", "1", "0"))
    one = sqlaudit.lattice(PEOPLE, qi=["sex"], require="k=1", hierarchies={"sex": "keep"})
    assert (one.nodes, nodes_picture(one)) == (1, None)


def test_of_a_large_lattice_two_columns_are_drawn(large: LatticeResult) -> None:
    assert nodes_picture(large) is None
    drawn, table = grid_picture(large), grid_table(large)
    assert drawn is not None
    assert isinstance(table, Table)
    safe = [node for node in product(range(5), repeat=3) if large.verdict(node)]
    assert (len(safe), large.safe) == (large.safe, large.verdicts.count(True))
    assert drawn.data["rows"] == ["0 unchanged", "1 width 2", "2 width 4", "3 width 8", "4 *"]
    for y, x in product(range(5), repeat=2):
        there = sum(node[:2] == (y, x) for node in safe)
        assert drawn.data["values"][y][x] == there / 5
        assert table.rows[y][x + 1] == f"{there} of 5"
    assert text_of(table.columns[0].title) == "a"
    assert (grid_picture(small()), grid_table(small())) == (None, None)
    assert large.best is not None
    assert drawn.data["marked"] == list(large.best.levels[:2])
    assert "the frame has the chosen node" in drawn.title
    page = render_html(document_of(large))
    assert page.count("stroke-width: 2") + page.count('stroke-width="2"') >= 1


@pytest.mark.parametrize(
    ("find", "kinds"),
    [
        ("best", ["bars", "graph"]),
        ("minimal", ["bars", "graph"]),
        ("all", ["bars", "bars", "graph"]),
        ("chain", ["bars"]),
    ],
)
def test_each_question_has_its_pictures(find: str, kinds: list[str]) -> None:
    assert [picture.kind for picture in pictures(small(find))] == kinds
    page = render_html(document_of(small(find)))
    assert page.count("<figure") == len(kinds)


def test_pictures_and_tables_of_a_large_lattice(large: LatticeResult) -> None:
    assert [picture.kind for picture in pictures(large)] == ["bars", "bars", "heat"]
    page = render_html(document_of(large))
    assert page.count("<figure") == 3
    text = render_text(document_of(large), 100)
    assert "Safe nodes by the levels of a (rows) and b (columns)" in text
    assert "Sum of levels" in text
    before_and_after, bars, _ = (picture.data for picture in pictures(large))
    assert set(before_and_after["series"]) == {"before", "after"}
    losses = list(bars["series"]["Loss (ARX)"])
    assert losses == sorted(losses)
    assert len(losses) == 20
    assert json.loads(json.dumps(large.to_dict()))["lattice"]["verdicts"].count("s") == large.safe


FORMS = {
    "age": {"widths": [5, 20], "origin": 1, "low": 13},
    "zip": {"mask": [1, 5]},
    "born": {"dates": ["month", "decade"]},
    "town": {"tree": {"north": {"Kiel": ["Kiel"], "cities": ["Bremen"]}}},
    "sex": "keep",
}


def test_levels_have_examples_that_no_table_gave() -> None:
    rows = {"age": 30, "zip": 24103, "born": pd.Timestamp("1990-01-02"), "town": "Kiel", "sex": "f"}
    people = pd.DataFrame([rows, {**rows, "age": 52, "town": "Bremen"}] * 2)
    found = sqlaudit.lattice(people, qi=list(rows), require="k=2", hierarchies=FORMS, find="all")
    shown = {column.name: [column.called(level) for level in range(column.height + 1)] for column in found.columns}
    examples = {column.name: column.examples for column in found.columns}
    assert examples == {
        "age": ("", "[16, 21)", "[21, 41)", ""),
        "zip": ("", "abcd*", "", ""),
        "born": ("", "2024-02", "2020-2029", ""),
        "town": ("", "cities", "north", ""),  # not Kiel, which is a value
        "sex": ("",),
    }
    assert shown["town"] == ["unchanged", "groups such as cities", "groups such as north", "*"]
    assert "examples" not in json.dumps(found.to_dict())
    text = " ".join(render_text(document_of(found), 200).split())
    assert "unchanged; width 5, such as [16, 21); width 20, such as [21, 41); *" in text
    assert "unchanged; last 1 masked, such as abcd*; last 5 masked; *" in text
    assert "listed" not in text


def test_the_smallest_class_is_told_after_suppression_too() -> None:
    people = pd.DataFrame({"age": [30, 30, 30, 40, 40, 99], "sex": list("ffffff")})
    found = sqlaudit.lattice(people, qi=["age", "sex"], require="k=2", suppress="17%", find="all")
    assert found.best is not None
    assert (found.best.levels, found.best.smallest, found.best.smallest_left) == ((0, 0), 1, 2)
    text = " ".join(render_text(document_of(found), 200).split())
    assert "Smallest class left 2 rows Loss (ARX) 0.08012 Suppressed rows 1 (16.7%)" in text
    assert "Suppressed Classes Smallest class left" in text
