"""What knowledge can reveal at every node: equal to the definitions, on every engine and in every way of counting."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import log
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.report import disclosure_blocks
from tests.cli.runner import run as sqlaudit_command
from tests.lattices.test_publish import ODD, ROW, generalized
from tests.lattices.test_run import HEIGHTS, searched
from tests.models.disclosure import oracle
from tests.reports.schemas import validator
from tests.strategies import run

Told = tuple[float, list[tuple[int, Fraction, Fraction]]]


def by_hand(rows: Sequence[Mapping[str, Any]], node: Sequence[int], levels: Sequence[int]) -> Told:
    """The least entropy of a class, and (k, maximum, negated) for each k, from the rows at a node."""
    classes: dict[Any, Counter[Any]] = defaultdict(Counter)
    for row in generalized(rows, dict(zip(HEIGHTS, node, strict=True))):
        classes[row[ODD], row["age"]][row["s"]] += 1
    counts = [sorted(found.values(), reverse=True) for found in classes.values()]
    entropies = [sum(c / sum(one) * log(sum(one) / c) for c in one) for one in counts]
    return min(entropies), [(k, oracle.maximum(counts, k), oracle.negated(counts, k)) for k in levels]


@run(8, some=3)
@given(st.data())
def test_every_node_is_told_as_the_definitions_have_it(engine: Engine, data: st.DataObject) -> None:
    rows = data.draw(st.lists(ROW, min_size=1, max_size=8))
    levels = data.draw(st.sampled_from([(0,), (1, 3), (0, 1, 2)]))
    require = data.draw(st.sampled_from(["k_anonymity", "distinct_l_diversity"]))  # counted by sizes, by presence
    required = [(require, {"k" if require == "k_anonymity" else "l": 1}, "s")]
    found = searched(rows, required, engine, find="all", knowledge=levels)
    assert [node.levels for node in found.disclosures] == list(product(range(3), range(4)))
    for node in found.disclosures:
        entropy, points = by_hand(rows, node.levels, levels)
        assert node.entropy == pytest.approx(entropy, abs=1e-9)
        assert [(point.k, point.maximum, point.negated) for point in node.curve] == points
    validator("lattice").validate(found.to_dict())


PEOPLE = pd.DataFrame(
    {
        "who": list("abcdefgh"),
        "age": [31, 32, 38, 39, 51, 52, 58, 59],
        "sex": list("fmfmfmfm"),
        "dx": ["flu", "cold", "flu", "flu", "HIV", "flu", "cold", "flu"],
        "job": ["x", "y", "x", "x", "y", "y", "x", "y"],
    }
)
ASKED: dict[str, Any] = {
    "qi": ["age", "sex"],
    "hierarchies": {"age": {"widths": [10, 20]}},
    "require": "k=1",
    "find": "all",
}


@pytest.mark.parametrize("way", [{}, {"entity": "who"}, {"nulls": "distinct"}])
def test_nodes_that_are_audited_one_by_one_say_the_same(way: dict[str, Any]) -> None:
    found = sqlaudit.lattice(PEOPLE, sensitive=["dx", "job"], knowledge="0..2", **ASKED, **way)
    told = {(node.levels, node.sensitive): node for node in found.disclosures}
    assert [point.maximum for point in told[(3, 1), "dx"].curve] == [Fraction(5, 8), Fraction(35, 41), 1]
    assert [str(point.maximum) for point in told[(1, 1), "dx"].curve] == ["3/4", "1", "1"]
    assert told[(3, 1), "job"].entropy == pytest.approx(log(2))
    assert found.least_disclosure(1, "dx")[0] == (0.0, 1)
    assert [str(least) for _, least in found.least_disclosure(1, negated=True)] == ["1", "1", "5/6"]


def test_a_person_of_two_values_is_refused() -> None:
    twice = PEOPLE.assign(who=list("aacdefgh"))
    with pytest.raises(UsageError, match="needs one class and one value of dx for each person, but 1 person has more"):
        sqlaudit.lattice(twice, sensitive="dx", knowledge=1, entity="who", **ASKED)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"find": "best"}, "knowledge= needs find='all'."),
        ({"sensitive": ()}, "knowledge= needs a sensitive column. Name one with sensitive."),
        ({"suppress": "5%"}, "knowledge= cannot be combined with suppress=, because "),
        ({"nulls": "wildcard"}, "knowledge=: maximum disclosure is not defined with nulls='wildcard', because "),
        ({"knowledge": "3..1"}, "knowledge= takes numbers such as 1,3,5 or 0..12, not '3..1'."),
        ({"knowledge": "1,x"}, "knowledge= takes numbers such as 1,3,5 or 0..12, not '1,x'."),
        ({"knowledge": [-1]}, "knowledge= takes numbers from 0 to 200."),
        ({"knowledge": [0.5]}, "knowledge= takes whole numbers, for example knowledge='1,3,5'."),
        ({"knowledge": 201}, "knowledge= takes numbers from 0 to 200."),
    ],
)
def test_what_has_no_meaning_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        sqlaudit.lattice(PEOPLE, **{"sensitive": "dx", "knowledge": (1,), **ASKED, **more})
    assert str(caught.value).startswith(said)


def test_very_many_nodes_are_refused_before_the_search() -> None:
    wide = PEOPLE[["dx", "age"]].assign(**{f"c{place}": PEOPLE.sex for place in range(15)})
    columns = [f"c{place}" for place in range(15)]
    with pytest.raises(UsageError, match=r"allows at most 20,000 nodes, but this lattice has 32,768\."):
        sqlaudit.lattice(wide, qi=columns, sensitive="dx", require="k=1", find="all", knowledge=1)


def test_the_time_that_is_over_is_said() -> None:
    found = sqlaudit.lattice(PEOPLE, sensitive="dx", knowledge=1, time_budget=0, **ASKED)
    assert (found.complete, found.stopped, found.disclosures) == (False, "budget", ())


def test_a_curve_without_change_is_a_sentence() -> None:
    found = sqlaudit.lattice(PEOPLE.assign(dx="flu"), sensitive="dx", knowledge="0..1", **ASKED)
    said = [
        f"Maximum disclosure of dx is 1 at every entropy and k ({kind})."
        for kind in ("any basic implications", "negated atoms only")
    ]
    assert list(disclosure_blocks(found)) == said


def test_one_command_prints_the_curves_and_draws_them(tmp_path: Any) -> None:
    PEOPLE.to_csv(tmp_path / "people.csv")
    (tmp_path / "h.yml").write_text("hierarchies: {age: {widths: [10, 20]}}\n")
    arguments = ["lattice", tmp_path / "people.csv", "--qi", "age,sex", "--sensitive", "dx", "--require", "k=1"]
    arguments += ["--hierarchies", tmp_path / "h.yml", "--find", "all", "--knowledge", "0..8"]
    told = sqlaudit_command(*arguments)
    assert told.code == 0, told.err
    assert "Worst-case disclosure at the nodes" in told.out
    assert "Shown for k = 0, 1, 2, 3, 5, 6, 7 and 8; the JSON has all 9." in told.out
    page = sqlaudit_command(*arguments, "--format", "html")
    assert page.out.count("<figure") >= 3
    for k in (0, 1, 2, 3, 5, 6, 7, 8):
        assert f"k = {k}" in page.out
