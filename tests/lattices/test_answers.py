"""What a search answers at its edges: chains under disclosure, everything suppressed, what minimal means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.cli.runner import run

KINDS = {"age": "int", "sex": "text", "s": "text"}
AGES = {"age": {"widths": [10, 20]}}
ROWS = [
    {"age": age, "sex": sex, "s": s}
    for age, sex, s in zip([1, 2, 11, 12, 21, 22], "fmfmfm", ["a", "b", "a", "a", "b", "c"], strict=True)
]


def searched(engine: Engine, **asked: Any) -> sqlaudit.LatticeResult:
    given: dict[str, Any] = {"qi": ["age", "sex"], "hierarchies": AGES, "require": {"k": 2}} | asked
    return sqlaudit.lattice(query=values_query(ROWS, KINDS), db=engine, **given)


def test_a_chain_says_what_figure_of_the_table_falls_short(engine: Engine) -> None:
    chain = [(0, 0), (1, 0), (3, 1)]
    found = searched(engine, sensitive=["s"], require=["disclosure=c:0.9,k:1"], find="chain", chain=chain)
    short = [node for node in found.walk if not node.safe]
    assert short
    assert all(one.classes is None for node in short for one in node.fails)
    said = " ".join(render_text(document_of(found)).split())
    for node in short:
        levels = ",".join(map(str, node.levels))
        assert f"{levels} not safe – " in said
        assert f"{levels} not safe 0" not in said
    assert "Fails" in said


def test_a_chain_of_classes_that_fall_short_counts_their_rows(engine: Engine) -> None:
    found = searched(engine, find="chain", chain=[(0, 0), (3, 1)])
    said = " ".join(render_text(document_of(found)).split())
    assert "0,0 not safe 6" in said
    assert "falls short of" not in said


def test_all_rows_may_be_suppressed(engine: Engine) -> None:
    found = searched(engine, require={"k": 7}, suppress="100%", find="all")
    assert found.best is not None
    assert (found.limit_rows, found.best.failing_rows, found.safe) == (6, 6, found.nodes)
    for share in (1, "1", "100%"):
        assert searched(engine, suppress=share).limit_rows == 6
    with pytest.raises(UsageError, match=r"from 0 to 1 \(100%\)"):
        searched(engine, suppress=2)


def test_a_release_without_rows_is_written(tmp_path: Path) -> None:
    pd.DataFrame(ROWS).to_csv(tmp_path / "p.csv", index=False)
    out = tmp_path / "out.csv"
    ran = run("lattice", tmp_path / "p.csv", "--qi", "age,sex", "--require", "k=7", "--suppress", "100%", "--to", out)
    assert ran.code in (0, 1), ran.err
    assert out.read_text("utf-8").splitlines()[1:] == []


@pytest.mark.parametrize("algorithm", ["ola", "incognito", "exhaustive"])
def test_minimal_nodes_are_safe_ones_with_no_finer_safe_node(engine: Engine, algorithm: str) -> None:
    """Where a search is not monotone, a safe node may have a safe one below it, but none among its neighbours."""
    ages = [1, 2, 3, 4, 11, 12]
    rows = [{"age": age, "sex": "f", "s": s} for age, s in zip(ages, ["a", "b", "a", "b", "a", "a"], strict=True)]
    found = sqlaudit.lattice(
        query=values_query(rows, KINDS),
        db=engine,
        qi=["age"],
        sensitive=["s"],
        find="all",
        algorithm=algorithm,
        hierarchies={"age": {"widths": [2, 4, 8, 16]}},
        require=["k=2", "t=0.34"],
        suppress="50%",
    )
    safe = {node.levels for node in found.safe_nodes}
    wanted = {
        one
        for one in safe
        if not any(other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in safe)
    }
    assert found.minimal is not None
    assert {node.levels for node in found.minimal} == wanted
