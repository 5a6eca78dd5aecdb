"""Whole searches: equal to brute force over every node, the same on both engines, honest when stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices import evaluate
from sqlaudit.lattices.evaluate import Evaluator
from sqlaudit.lattices.request import parse_chain
from sqlaudit.lattices.result import LatticeResult
from sqlaudit.models.measures import OF_NODES
from sqlaudit.models.registry import requirement_from
from tests import oracle
from tests.audit_values import spelled, values_query
from tests.cli.runner import run as cli
from tests.few import ALL, LEAST
from tests.lattices import oracle_losses
from tests.lattices.test_publish import COLUMNS, HIERARCHIES, LABELS, ODD, REQUIREMENTS, ROW, generalized
from tests.release.alone import without_audit
from tests.reports.schemas import validator
from tests.strategies import run

Required = Sequence[tuple[str, dict[str, Any], str | None]]
HEIGHTS = {ODD: 2, "age": 3}
NODES = list(product(range(3), range(4)))
LISTED = {ODD: ["a'b", "c;d", "", None]}


def brute_force(rows: Sequence[Mapping[str, Any]], required: Required, node: Sequence[int]) -> tuple[set[int], int]:
    """The rows that fail at a node, and its classes."""
    coarse = generalized(rows, dict(zip(HEIGHTS, node, strict=True)))
    short: set[Any] = set()
    for name, parameters, sensitive in required:
        table = oracle.table_of(coarse, [ODD, "age"], sensitive)
        short |= {group.key for group in oracle.MODELS[name](table, **parameters).failing}
    keys = [(row[ODD], row["age"]) for row in coarse]
    return {place for place, key in enumerate(keys) if key in short}, len(set(keys))


def searched(rows: Sequence[Mapping[str, Any]], required: Required, engine: Engine, **options: Any) -> LatticeResult:
    return sqlaudit.lattice(
        query=values_query(rows, COLUMNS),
        qi=[ODD, "age"],
        sensitive="s",
        hierarchies=HIERARCHIES,
        db=engine,
        require=[requirement_from(name, parameters) for name, parameters, _ in required],
        **options,
    )


@run(15, some=4)
@given(st.data())
def test_searches_are_equal_to_brute_force(engine: Engine, data: st.DataObject) -> None:
    rows = data.draw(st.lists(ROW, min_size=min(LEAST, 4), max_size=9))
    required = data.draw(st.lists(st.sampled_from(REQUIREMENTS), min_size=1, max_size=2, unique_by=str))
    suppress = data.draw(st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 2)]))
    measure = data.draw(st.sampled_from(list(OF_NODES)))
    limit = int(suppress * len(rows))
    failing = {node: brute_force(rows, required, node) for node in NODES}
    safe = {node for node, (short, _) in failing.items() if len(short) <= limit}
    recode = {name: LABELS[name] for name in HEIGHTS}
    losses = {
        node: oracle_losses.losses(
            rows, recode, node, failing[node][0], LISTED, sensitive="s", noise=measure == "range-query-noise"
        )[measure]
        for node in sorted(safe)
    }
    minimal = {n for n in safe if not any(o != n and o[0] <= n[0] and o[1] <= n[1] for o in safe)}
    every = searched(rows, required, engine, suppress=suppress, measure=measure, find="all")
    assert (every.nodes, every.limit_rows, every.safe, every.complete) == (12, limit, len(safe), True)
    assert {node.levels for node in every.minimal or ()} == minimal
    assert {node.levels: node.failing_rows for node in every.safe_nodes} == {n: len(failing[n][0]) for n in safe}
    assert {node.levels: node.classes for node in every.safe_nodes} == {node: failing[node][1] for node in safe}
    for node in every.safe_nodes:
        assert node.loss == pytest.approx(losses[node.levels], rel=1e-9, abs=1e-9)
    assert {node.levels for node in every.walk if not node.safe} == set(NODES) - safe
    for node in every.walk:
        assert bool(node.fails) == bool(failing[node.levels][0])
    best = searched(rows, required, engine, suppress=suppress, measure=measure)
    assert (best.best is None) == (not safe)
    assert bool(best.why) == (not safe)
    if best.best is not None:
        assert best.best.loss == pytest.approx(min(losses.values()), rel=1e-9, abs=1e-9)
        assert best.best.suppressed_rows == len(failing[best.best.levels][0])
        assert best.bound == pytest.approx(best.best.loss, rel=1e-9, abs=1e-9)
    validator("lattice").validate(every.to_dict())
    validator("lattice").validate(best.to_dict())


@run(10, some=3)
@given(st.data())
def test_levels_that_are_requested_leave_the_nodes_that_have_them(engine: Engine, data: st.DataObject) -> None:
    rows = data.draw(st.lists(ROW, min_size=min(LEAST, 4), max_size=9))
    required = data.draw(st.lists(st.sampled_from(REQUIREMENTS), min_size=1, max_size=2, unique_by=str))
    suppress = data.draw(st.sampled_from([Fraction(0), Fraction(1, 2)]))
    measure = data.draw(st.sampled_from(["loss", "discernibility", "class-size"]))
    algorithm = data.draw(st.sampled_from(["auto", "incognito", "exhaustive"]))
    place, name = data.draw(st.sampled_from([*enumerate(HEIGHTS)]))
    fixed = data.draw(st.integers(0, HEIGHTS[name]))
    asked = {"suppress": suppress, "measure": measure}
    every = searched(rows, required, engine, find="all", **asked)
    level = {name: every.searched[place].levels[fixed]}
    inside = [node for node in every.safe_nodes if node.levels[place] == fixed]
    some = searched(rows, required, engine, find="all", level=level, **asked)
    assert some.safe_nodes == tuple(inside)
    assert (some.nodes, some.safe, some.complete) == (12 // (1 + HEIGHTS[name]), len(inside), True)
    assert [column.fixed for column in some.searched] == [
        fixed if column.name == name else None for column in some.searched
    ]
    assert {node.levels[place] for node in some.walk} == {fixed}
    best = searched(rows, required, engine, level=level, algorithm=algorithm, **asked)
    assert bool(best.why) == (not inside)
    if inside:
        least = min(round(node.loss or 0, 9) for node in inside)
        assert best.best == min((n for n in inside if round(n.loss or 0, 9) == least), key=lambda n: n.levels)
    else:
        hint = f"Other levels of {name} may be safe: leave out level=."
        assert (hint in best.why) == (best.top is not None and best.top.classes > 1)
    for found in (some, best):
        validator("lattice").validate(found.to_dict())


def test_a_level_is_named_on_the_command_line_and_in_python(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    born = pd.date_range("1970-03-01", periods=60, freq="290D").strftime("%Y-%m-%d")
    table = pd.DataFrame({"birth date": born, "age": range(60), "zip": [f"0{n % 3}0{n % 4}1" for n in range(60)]})
    table.to_csv(file, index=False)
    options = (
        "--qi",
        '"birth date",zip',
        "--require",
        "k=2",
        "--suppress",
        "20%",
        "--identifier",
        "age",
        "--format",
        "json",
    )
    ran = cli("lattice", file, *options, "--level", '"birth date"=10 years', "--to", tmp_path / "out.csv")
    assert ran.code == 0, ran.err
    made = json.loads(ran.out)
    released = pd.read_csv(tmp_path / "out.csv", dtype=str)
    decades = {f"{year // 10 * 10}-{year // 10 * 10 + 9}" for year in range(1970, 2020)}
    assert set(released["birth date"]) <= decades
    assert [column.get("fixed") for column in made["hierarchies"]] == [3, None]
    found = sqlaudit.lattice(
        file, qi=["birth date", "zip"], require="k=2", suppress="20%", level={"BIRTH DATE": "10 years"}
    )
    assert found.best is not None
    assert list(found.best.levels) == made["lattice"]["best"]["levels"]
    by_number = sqlaudit.lattice(file, qi=["birth date", "zip"], require="k=2", suppress="20%", level={"birth date": 3})
    assert by_number.best == found.best
    text = cli("lattice", file, "--qi", "age,zip", "--require", "k=2", "--level", "age=20 years,zip=3 digits").said
    assert "age in steps of 20 years, zip to 3 digits (levels 3,2)" in text
    assert "required: k=2; requested levels: age 20 years and zip 3 digits." in text
    assert "Lattice 1 node" in text


@pytest.mark.parametrize(
    ("level", "sentence"),
    [
        (
            {"age": "7 years"},
            "'age' has no level '7 years'. Its levels are: unchanged, width 5, width 10, width 40, \\*",
        ),
        ({"age": "9"}, "'age' has no level '9'"),
        ({"aeg": "width 5"}, "level=: 'aeg' is not a column of the search. Did you mean 'age'"),
        ({"dx": "*"}, "level=: 'dx' is not a column of the search. Available: age, sex, zip."),
        ({"age": "width 5", "AGE": "width 10"}, "level= names 'AGE' twice"),
        ({"sex": "*"}, "'sex' has no level '\\*'. Its levels are: unchanged."),
        ({"age": None}, "level= takes the name or number of a level for a column"),
        ("age=5", "level= takes the name or number of a level for a column"),
    ],
)
def test_a_level_that_is_not_there_is_refused_before_the_search(level: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        sqlaudit.lattice(PEOPLE, require={"k": 2}, level=level, **OPTIONS)
    with pytest.raises(UsageError, match="exclude each other"):
        sqlaudit.lattice(PEOPLE, require={"k": 2}, find="chain", chain=[(0, 0, 0)], level={"age": 1}, **OPTIONS)


@run(16, some=4)
@given(data=st.data())
def test_regions_and_widths_are_those_of_brute_force(engine: Engine, data: st.DataObject) -> None:
    rows = data.draw(st.lists(ROW, min_size=min(LEAST, 4), max_size=9))
    suppress = data.draw(st.sampled_from([Fraction(0), Fraction(1, 2)]))
    one_by_one = data.draw(st.booleans())
    required = [("k_anonymity", {"k": 2}, None)]
    recode = {name: LABELS[name] for name in HEIGHTS}
    measure = data.draw(st.sampled_from(["volume-inflation", "independent-volume-inflation", "ncp"]))
    with pytest.MonkeyPatch.context() as patch:
        if one_by_one:
            patch.setattr(evaluate, "needs_audits", lambda attributes, roles: True)
        found = searched(rows, required, engine, suppress=suppress, measure=measure, find="all")
    for node in found.safe_nodes:
        gone = brute_force(rows, required, node.levels)[0]
        wanted = oracle_losses.losses(rows, recode, node.levels, gone, LISTED)[measure]
        assert node.loss == pytest.approx(wanted, rel=1e-9, abs=1e-9), (measure, node.levels)


@pytest.mark.few_on_postgres(0)
@run(16, some=3)
@given(data=st.data())
def test_losses_of_a_sensitive_attribute_are_those_of_brute_force(engine: Engine, data: st.DataObject) -> None:
    rows = data.draw(st.lists(ROW, min_size=min(LEAST, 4), max_size=9))
    suppress = data.draw(st.sampled_from([Fraction(0), Fraction(1, 2)]))
    measure = data.draw(st.sampled_from(["variance-loss", "hybrid", "hybrid-log", "range-query-noise"]))
    required = data.draw(st.sampled_from([[REQUIREMENTS[0]], [REQUIREMENTS[0], REQUIREMENTS[2]]]))
    recode = {name: LABELS[name] for name in HEIGHTS}
    every = searched(rows, required, engine, suppress=suppress, measure=measure, find="all")
    best = searched(rows, required, engine, suppress=suppress, measure=measure)
    losses = {}
    more: dict[str, Any] = {"sensitive": "s", "noise": measure == "range-query-noise"}
    for node in every.safe_nodes:
        gone = brute_force(rows, required, node.levels)[0]
        losses[node.levels] = oracle_losses.losses(rows, recode, node.levels, gone, LISTED, **more)[measure]
        assert node.loss == pytest.approx(losses[node.levels], rel=1e-9, abs=1e-9), (measure, node.levels)
    assert (best.best is None) == (not losses)
    if best.best is not None:
        assert best.best.loss == pytest.approx(min(losses.values()), rel=1e-9, abs=1e-9)
    may_leave_out = suppress * len(rows) >= 1  # half of a single row is none
    assert every.loss_monotone is (measure == "variance-loss" and not may_leave_out)


def test_the_noise_of_a_node_is_what_a_comparison_of_its_release_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_audit(monkeypatch)
    ages = [31, 32, 32, 45, 46, 58, 33, 31, 47, 58, 59, 31]
    table = pd.DataFrame({"age": ages, "sex": list("ffmmfmfmfmmf"), "dx": list("abcabcddabca")})
    table["id"] = range(12)
    given: dict[str, Any] = {"qi": ["age", "sex"], "sensitive": "dx"}
    ways = {"age": {"widths": [10, 100]}, "sex": {"mask": [1]}}
    for suppress in (0, 0.3) if ALL else (0.3,):
        to = tmp_path / f"release{suppress}.parquet"
        found = sqlaudit.lattice(
            table,
            require="k=2",
            hierarchies=ways,
            measure="range-query-noise",
            suppress=suppress,
            to=to,
            keep_column="id",
            **given,
        )
        assert found.best is not None
        assert found.loss_monotone is False
        assert bool(found.best.failing_rows) is bool(suppress)
        compared = sqlaudit.compare(table, str(to), key="id", hierarchies=ways, measures=["range-query-noise"], **given)
        assert found.best.loss == pytest.approx(compared.loss("range-query-noise").value, rel=1e-12)


def test_a_hybrid_loss_may_fall_and_a_coarser_node_be_the_best() -> None:
    """Errata H17: counts A:3, B:5 in classes of [1,2], [1,3], [1,0]; merging the first two changes it by -1/12."""
    rows = pd.DataFrame({"x": [0] * 3 + [1] * 4 + [2], "s": list("ABB" + "ABBB" + "A")})
    tree = {0: ["low", "*"], 1: ["low", "*"], 2: ["high", "*"]}
    given: dict[str, Any] = {"qi": ["x"], "sensitive": "s", "require": "k=1", "hierarchies": {"x": {"values": tree}}}
    found = sqlaudit.lattice(rows, measure="hybrid", find="all", **given)
    losses = {node.levels: node.loss for node in found.safe_nodes}
    assert losses[(0,)] == 0
    assert losses[(1,)] == pytest.approx(-1 / 12)
    assert found.loss_monotone is False
    best = sqlaudit.lattice(rows, measure="hybrid", **given).best
    assert best is not None
    assert best.levels == (1,)


def test_a_loss_of_a_sensitive_attribute_needs_one_that_is_counted() -> None:
    with pytest.raises(UsageError, match="needs one sensitive column"):
        sqlaudit.lattice(PEOPLE, require="k=1", measure="variance-loss", **OPTIONS)
    with pytest.raises(UsageError, match="Losses of sensitive values need rows, not people"):
        sqlaudit.lattice(PEOPLE, sensitive="dx", require="k=1", measure="hybrid", nulls="distinct", **OPTIONS)


def test_regions_of_rows_have_no_meaning_where_nulls_are_no_values() -> None:
    with pytest.raises(UsageError, match=r"counts rows with equal values, which is not defined with nulls='disti"):
        sqlaudit.lattice(PEOPLE, require="k=1", measure="volume-inflation", nulls="distinct", **OPTIONS)


PEOPLE = pd.DataFrame(
    {
        "age": [30, 31, 35, 38, 52, 57, 52, None],
        "sex": list("fmfmffff"),
        "zip": ["1305", "1306"] * 4,
        "dx": ["flu", "flu", "cold", "HIV", "flu", "cold", "flu", None],
    }
)
OPTIONS: dict[str, Any] = {
    "qi": ["age", "sex", "zip"],
    "hierarchies": {"age": {"widths": [5, 10, 40]}, "zip": {"mask": [1, 2]}, "sex": "keep"},
}


def test_python_says_why_nodes_failed_and_how_they_were_walked() -> None:
    found = sqlaudit.lattice(PEOPLE, sensitive="dx", require=["k=2", "l=2"], suppress="13%", **OPTIONS)
    assert found.best is not None
    assert [(column.name, column.height, column.use) for column in found.columns] == [
        ("age", 4, "generalize"),
        ("sex", 0, "keep"),
        ("zip", 3, "generalize"),
    ]
    assert (found.nodes, found.limit_rows, found.algorithm, found.monotone) == (20, 1, "best-first", True)
    assert found.named((1, 0, 2)) == {"age": "width 5", "sex": "unchanged", "zip": "last 2 masked"}
    unsafe = [node for node in found.walk if not node.safe]
    assert unsafe
    assert all(one.requirement in ("k=2", "l=2") for node in unsafe for one in node.fails)
    text = {(one.requirement, one.sensitive) for node in unsafe for one in node.fails}
    assert text <= {("k=2", None), ("l=2", "dx")}


def test_a_chain_is_searched_by_bisection() -> None:
    chain = parse_chain("0,0,0 1,0,0 2,0,1 3,0,2; 4,0,3")
    found = sqlaudit.lattice(PEOPLE, require={"k": 2}, find="chain", chain=chain, **OPTIONS)
    assert found.chain == chain
    assert (found.nodes, found.algorithm, found.best and found.best.levels) == (5, "chain", (4, 0, 3))
    assert found.checked <= 3
    with pytest.raises(UsageError, match="takes nodes such as"):
        parse_chain("0,x")


def test_weights_change_which_column_is_coarsened() -> None:
    data = pd.DataFrame({"a": list("uuvv"), "b": list("xyxy")})
    plain = {
        name: sqlaudit.lattice(data, qi=["a", "b"], require={"k": 2}, weights={name: 3}).best for name in ("a", "b")
    }
    assert {name: node.levels for name, node in plain.items() if node} == {"a": (0, 1), "b": (1, 0)}
    # 1 + 3 of 4 parts stay whole: (1 + 1)^(1/4) - 1
    assert plain["a"] is not None
    assert plain["a"].loss == pytest.approx(2 ** (1 / 4) - 1)
    with pytest.raises(UsageError, match="weights do not apply"):
        sqlaudit.lattice(data, qi=["a"], require={"k": 2}, measure="class-size", weights={"a": 2})


BESIDE = {"postgres": "postgres_url", "spark": "spark_url"}
"""Engines whose counts go to a workbench beside them, and the fixture of the URL of each."""


@pytest.mark.parametrize("beside", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in BESIDE])
def test_engines_beside_the_workbench_say_the_same(beside: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(BESIDE[beside])
    rows = PEOPLE.astype(object).where(PEOPLE.notna(), None).to_dict("records")
    rows = [row | {"age": None if row["age"] is None else int(row["age"])} for row in rows]
    query = values_query(rows, {"age": "int", "sex": "text", "zip": "text", "dx": "text"})  # type: ignore[arg-type]
    told = []
    for db in (None, url):
        text = spelled(query, "spark" if db and beside == "spark" else "duckdb")
        for find in ("best", "all", "minimal", "chain") if ALL else ("best", "minimal"):
            with connect(db) as opened:
                found = sqlaudit.lattice(
                    query=text,
                    db=opened,
                    sensitive="dx",
                    require=["k=2", "t=0.5"],
                    suppress="25%",
                    find=find,
                    publish_view="release",
                    **OPTIONS,
                ).to_dict()
            for key in ("time", "access", "versions", "statements", "target"):
                del found[key]
            if found["published"]:
                found["published"]["sql"] = found["published"]["audit"]
            told.append(found)
    half = len(told) // 2
    assert told[:half] == told[half:]
    assert all(one["lattice"]["best"] for one in told)


def test_a_stopped_search_says_what_it_knows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    at_once = sqlaudit.lattice(PEOPLE, require={"k": 2}, time_budget=0, **OPTIONS)
    assert (at_once.complete, at_once.stopped, at_once.best, at_once.safe) == (False, "budget", None, None)
    decide = Evaluator.decide
    calls = []

    def interrupted(self: Evaluator, nodes: Sequence[Any]) -> Any:
        calls.append(nodes)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return decide(self, nodes)

    monkeypatch.setattr(Evaluator, "decide", interrupted)
    found = sqlaudit.lattice(PEOPLE, require={"k": 2}, find="minimal", to=tmp_path / "f.csv", **OPTIONS)
    assert (found.complete, found.stopped, found.published, found.safe) == (False, "interrupted", None, None)
    assert found.unknown
    assert found.checked == len(found.walk) > 0
    validator("lattice").validate(found.to_dict())


def test_no_safe_node_is_explained() -> None:
    nothing = sqlaudit.lattice(PEOPLE, sensitive="dx", require=["k=9", "l=5"], **OPTIONS)
    assert (nothing.best, nothing.safe, nothing.passed) == (None, 0, False)
    assert any("k=9: 2 of 2 classes with 8 rows fail even at the coarsest node." in why for why in nothing.why)
    assert nothing.why[-1] == "Unchanged at every node: sex. Give them a hierarchy, or drop them."
    whole = sqlaudit.lattice(PEOPLE, sensitive="dx", require=["l=5"], qi=["age"])
    assert whole.why == (
        "l=5 for dx fails even for all rows together, so no generalization can meet it: dx has 4 different values.",
    )
    empty = sqlaudit.lattice(PEOPLE[:0].astype({"age": float}), qi=["age"], require={"k": 2})
    assert (empty.rows, empty.best, empty.why) == (0, None, ("The table has no rows.",))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"require": ()}, "No requirement is given"),
        ({"qi": ()}, "No quasi-identifiers are named"),
        ({"suppress": 2}, "from 0 to 1"),
        ({"suppress": "many"}, "takes a share such as 0.01 or 1%"),
        ({"nulls": "wildcard", "suppress": "20%"}, "exclude each other"),
        ({"algorithm": "chain"}, "cannot find best"),
        ({"chain": [(0, 0)]}, "needs find='chain'"),
        ({"measure": "lose"}, "There is no measure 'lose'"),
        ({"time_budget": -1}, "0 seconds or more"),
        ({"execute": True}, "Name it with publish_view="),
        ({"publish_view": "v", "to": "f.csv"}, "exclude each other"),
        ({"suppressed": "star"}, "Add publish_view= or to="),
        ({"publish_view": "v", "replace_view": True}, "needs execute=True"),
        ({"publish_view": "v"}, "A view cannot read"),
        ({"qi": ["agee"]}, "Did you mean 'age'"),
        ({"suppress": "1%", "require": ["average_risk=0.2"]}, "names no rows to leave out"),
    ],
)
def test_requests_without_meaning_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        sqlaudit.lattice(PEOPLE, **({"require": {"k": 2}, "qi": ["age", "sex"]} | options))
