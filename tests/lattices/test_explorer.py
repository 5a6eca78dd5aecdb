"""An open lattice gives the figures of a search and of audits for every node, and proposals by their rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import BudgetSpent, UsageError
from sqlaudit.base.spec import KnownRows, NullPolicy, Roles, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices import answer, sweep
from sqlaudit.lattices import explorer as explorer_module
from sqlaudit.lattices.explorer import Explorer
from sqlaudit.lattices.losses import ColumnCosts, Losses
from sqlaudit.lattices.proposals import least_of, propose, rank_of
from sqlaudit.lattices.request import Find, LatticeRequest
from sqlaudit.models.measures import OF_NODES
from sqlaudit.models.registry import requirement_from
from tests.audit_values import values_query
from tests.lattices import oracle_nodes
from tests.lattices.lattices import NodeCase, evaluating, node_cases
from tests.lattices.test_publish import COLUMNS, HIERARCHIES, ODD, REQUIREMENTS, ROW
from tests.strategies import run

SWEPT = ["k_anonymity", "l_diversity", "t_closeness", "entropy_l_diversity", "prosecutor_risk"]


def exploring(engine: Engine | None, rows: Sequence[Mapping[str, Any]], require: Any, **options: Any) -> Explorer:
    request = LatticeRequest(
        Target(query=values_query(rows, COLUMNS)),
        Roles((ODD, "age"), ("s",)),
        tuple(requirement_from(name, parameters) for name, parameters, _ in require),
        hierarchies=HIERARCHIES,
        **options,
    )
    return Explorer.open(engine, request)


@run(60, some=12)
@given(case=node_cases())
def test_a_sweep_decides_as_brute_force_does(engine: Engine, case: NodeCase) -> None:
    """Every model that single classes decide: rows, classes, sizes and shortfalls of every node."""
    lattice = case.lattice
    names = {requirement.model for requirement in case.require}
    with evaluating(engine, case) as evaluator:
        costs = tuple(
            ColumnCosts(name, h, (0.0,) * (h + 1)) for name, h in zip(lattice.labels, lattice.heights, strict=True)
        )
        losses = Losses(OF_NODES["precision"], evaluator.rows, costs)
        found = evaluator.sweep(losses)
        if found is None:
            assert not lattice.rows or not names <= set(SWEPT)
            return
        decided = {verdict.node: verdict for verdict, _ in found.nodes(list(lattice.nodes()), len(lattice.rows))}
        assert set(decided) == set(lattice.nodes())
        for node, verdict in decided.items():
            expected = oracle_nodes.verdict(lattice, node, case.required, case.limit)
            assert (verdict.safe, verdict.failing_rows) == (expected.safe, expected.failing_rows), verdict
            assert (verdict.classes, verdict.smallest) == (expected.classes, expected.smallest), verdict
            alone, _ = found.node(node)
            assert {failure.requirement for failure in alone.fails} == expected.fails
            assert replace(alone, fails=()) == verdict
            assert alone.smallest_left == verdict.smallest_left
        for verdict in evaluator.decide(lattice.nodes()):
            alone, _ = found.node(verdict.node)
            assert replace(alone, prunable_safe=verdict.prunable_safe) == verdict
            assert alone.smallest_left == verdict.smallest_left


def search_of(engine: Engine | None, rows: list[Any], require: list[Any], suppress: Fraction, **options: Any) -> Any:
    """The result of the search of the same lattice as in `exploring`."""
    return sqlaudit.lattice(
        query=values_query(rows, COLUMNS),
        qi=[ODD, "age"],
        sensitive="s",
        hierarchies=HIERARCHIES,
        db=engine,
        require=[requirement_from(name, parameters) for name, parameters, _ in require],
        suppress=suppress,
        **options,
    )


@run(25, some=8)
@given(st.data())
def test_an_explorer_has_the_figures_of_a_search(engine: Engine, data: st.DataObject) -> None:
    """Under every measure: verdicts of `find=all`, and (with a limit of all rows) the losses of all nodes."""
    rows = data.draw(st.lists(ROW, min_size=4, max_size=12))
    require = data.draw(st.lists(st.sampled_from(REQUIREMENTS), min_size=1, max_size=2, unique_by=str))
    measure = data.draw(st.sampled_from(list(OF_NODES)))
    suppress = data.draw(st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1)]))
    options: dict[str, Any] = {"measure": measure, "find": Find.ALL, "walk": True}
    result = search_of(engine, rows, require, suppress, algorithm="exhaustive", **options)
    with exploring(engine, rows, require, suppression=suppress, **options) as explorer:
        nodes = {node.levels: node for node in explorer.nodes()}
        assert list(nodes) == list(product(range(3), range(4)))
        for walked in result.walk:
            node = nodes[walked.levels]
            assert (node.meets, node.rows_left_out) == (walked.safe, walked.failing_rows)
            assert (node.classes, node.smallest) == (walked.classes, walked.smallest)
            assert explorer.node(walked.levels).fails == walked.fails
            assert node.smallest_left == walked.smallest_left
        for priced in result.safe_nodes:
            assert nodes[priced.levels].loss == pytest.approx(priced.loss, rel=1e-9, abs=1e-12)
        for levels, node in nodes.items():
            alone = explorer.node(levels)
            assert replace(alone, loss=None, fails=()) == replace(node, loss=None, fails=())
            assert node.loss is None or alone.loss == pytest.approx(node.loss)
        if result.safe_nodes:
            proposals = explorer.proposals()
            assert proposals[0].node.levels == result.safe_nodes[0].levels
            assert len({one.name for one in proposals}) == len({one.node.levels for one in proposals}) == len(proposals)


def test_a_search_proposes_what_all_nodes_propose(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It decides only those of the nodes that it left open; with few questions it has the same proposals or none."""

    @run(25, some=8)
    @given(
        st.lists(ROW, min_size=4, max_size=14),
        st.lists(st.sampled_from(REQUIREMENTS), min_size=1, max_size=2, unique_by=str),
        st.sampled_from(list(OF_NODES)),
        st.sampled_from([Fraction(0), Fraction(1, 5), Fraction(1, 2)]),
        st.booleans(),
    )
    def propose_the_same(rows: list[Any], require: list[Any], measure: str, suppress: Fraction, may_ask: bool) -> None:
        monkeypatch.setattr(answer, "MOST_ASKED", 1000 if may_ask else 1)
        found = search_of(engine, rows, require, suppress, measure=measure)
        with exploring(engine, rows, require, suppression=suppress, measure=measure) as explorer:
            expected = [(one.name, one.node.levels, one.node.rows_left_out) for one in explorer.proposals()]
        assert found.proposals is not None or not may_ask
        if found.proposals is not None:
            assert [(one.name, one.levels, one.suppressed_rows) for one in found.proposals] == expected
        assert (found.why_no_proposals is None) is (found.proposals is not None)

    propose_the_same()


def test_with_little_memory_statements_give_the_same_figures(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts and losses of all nodes, of single ones, and proposals, with a sweep and without."""

    @run(25, some=8)
    @given(
        st.lists(ROW, min_size=4, max_size=12),
        st.lists(st.sampled_from(REQUIREMENTS), min_size=1, max_size=2, unique_by=str),
        st.sampled_from(list(OF_NODES)),
        st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1)]),
    )
    def explore_the_same(rows: list[Any], require: list[Any], measure: str, suppress: Fraction) -> None:
        found: dict[int, Any] = {}
        for size in (explorer_module.SWEPT_BYTES, 2**60):
            monkeypatch.setattr(explorer_module, "SWEPT_BYTES", size)
            monkeypatch.setattr(explorer_module, "_AT_ONCE", 5)
            with exploring(engine, rows, require, suppression=suppress, measure=measure) as explorer:
                nodes = [*explorer.nodes(), explorer.node((0, 1)), explorer.node((1, 2))]
                is_swept = explorer._sweep is not None
                named = [(one.name, one.node.levels) for one in explorer.proposals()]
                found[size] = nodes, named, is_swept
            monkeypatch.undo()
        (swept, *rest, _), (asked, *asked_rest, is_swept) = found.values()
        assert not is_swept
        assert rest == asked_rest
        for one, other in zip(swept, asked, strict=True):
            assert replace(one, loss=None) == replace(other, loss=None)
            assert one.loss == (None if other.loss is None else pytest.approx(other.loss, rel=1e-9, abs=1e-12))

    explore_the_same()


def people(rows: int = 60) -> list[dict[str, Any]]:
    """Ages and towns, a few of them rare."""
    sizes = list(LISTED)
    return [
        {"age": 20 + (n * n) % 47, ODD: sizes[n % 3], "s": "xyz"[n % 3], "note": "", "name": "A", "n": n}
        for n in range(rows)
    ]


LISTED = ["a'b", "c;d", ""]
K5 = [("k_anonymity", {"k": 5}, None)]
L2 = [("distinct_l_diversity", {"l": 2}, "s")]


def test_the_frontier_has_all_nodes_that_no_other_beats() -> None:
    with exploring(None, people(), K5, suppression=Fraction(1)) as explorer:
        nodes = explorer.nodes()

        def beats(one: Any, other: Any) -> bool:
            pairs = (one.rows_left_out, round(one.loss, 9)), (other.rows_left_out, round(other.loss, 9))
            return pairs[0] != pairs[1] and all(a <= b for a, b in zip(*pairs, strict=True))

        unbeaten = {(n.rows_left_out, round(n.loss, 9)) for n in nodes if not any(beats(m, n) for m in nodes)}
        front = explorer.frontier()
        assert [(n.rows_left_out, round(n.loss or 0, 9)) for n in front] == sorted(unbeaten)


@dataclass(frozen=True)
class Choice:
    levels: tuple[int, ...]
    loss: float
    failing_rows: int


def test_proposals_follow_their_rule() -> None:
    columns = [("PLZ", 5), ("Beruf", 2)]

    def proposed(nodes: list[Choice]) -> list[tuple[str, Choice]]:
        named = propose(min(nodes, key=rank_of), least_of(nodes), columns, 1.0)
        return [(one.name, one.node) for one in named]

    best, job, none = Choice((4, 2), 0.206, 867), Choice((5, 1), 0.224, 185), Choice((5, 2), 0.36, 0)
    assert proposed([none, job, best]) == [("Keep PLZ", best), ("Keep Beruf", job), ("Leave out no one", none)]
    # six points more are too many; a column that stays coarse is no proposal
    assert proposed([best, Choice((5, 1), 0.266, 1)]) == [("Least detail lost", best)]
    assert proposed([best, Choice((4, 2), 0.21, 3)]) == [("Least detail lost", best)]
    # no row is left out by the best one: two columns may stay finer
    safe, other, third = Choice((4, 2), 0.2, 0), Choice((4, 1), 0.21, 0), Choice((3, 2), 0.22, 0)
    names = [name for name, _ in proposed([third, other, safe])]
    assert names == ["Least detail lost", "Keep Beruf", "More detail of PLZ"]


def test_labels_of_a_level_are_counted() -> None:
    rows = [{"age": age, ODD: "", "s": "x", "note": "", "name": "A", "n": 0} for age in [1] * 9 + [2] * 6 + [3] * 4]
    with exploring(None, rows, K5) as explorer:
        assert (explorer.labels("age", 1).groups, explorer.labels("age", 1).labels) == (1, ("[0, 10)",))
        assert explorer.labels("age", "*").labels == ("*",)
        assert explorer.labels("age").labels == ("1", "2", "3")
        assert explorer.columns[1].levels == ("unchanged", "width 10", "width 20", "*")


def test_of_many_labels_the_first_are_shown() -> None:
    rows = [{"age": age, ODD: "", "s": "x", "note": "", "name": "A", "n": 0} for age in range(99, -1, -1)]
    with exploring(None, rows, K5) as explorer:
        shown = explorer.labels("age")
        assert (shown.groups, shown.labels) == (100, tuple(map(str, range(40))))


def test_levels_have_names_or_numbers_and_others_are_refused() -> None:
    with exploring(None, people(), K5) as explorer:
        assert explorer.node({"age": "width 20"}) == explorer.node((0, 2)) == explorer.node(["unchanged", "2"])
        refused: list[Any] = [(0,), (0, 9), (0, -1), {"ages": 1}, {"age": "width 30"}]
        for levels in refused:
            with pytest.raises(UsageError):
                explorer.node(levels)
        with pytest.raises(BudgetSpent):
            explorer.nodes(stop=lambda: True)
        assert len(explorer.nodes()) == 12
        explorer.close()
        explorer.close()
    with pytest.raises(UsageError, match="has no rows"):
        exploring(None, [], K5)


@pytest.mark.parametrize("bits", [8, 20])
def test_keys_of_any_width_give_the_same(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where keys and vectors do not fit side by side they are sorted by their places; many ranks are searched for."""
    for require in (K5, [*K5, *L2]):
        with exploring(None, people(300), require, suppression=Fraction(1, 2)) as explorer:
            expected = explorer.nodes()
        monkeypatch.setattr(sweep, "BITS", bits)
        monkeypatch.setattr(sweep, "_TABLE", 2)
        monkeypatch.setattr(sweep, "_PENDING", 3)
        with exploring(None, people(300), require, suppression=Fraction(1, 2)) as explorer:
            assert explorer.nodes() == expected
        monkeypatch.undo()


@pytest.mark.parametrize("options", [{"entity": "n", "known_rows": "one"}, {"nulls": "distinct"}])
def test_requirements_on_people_are_decided_by_audits(options: dict[str, Any]) -> None:
    rows = [row | {"n": row["n"] // 2} for row in people(24)]
    query = values_query(rows, COLUMNS)
    found = sqlaudit.lattice(
        query=query, qi=[ODD, "age"], hierarchies=HIERARCHIES, require="k=2", find="all", suppress=0.2, **options
    )
    nulls = NullPolicy(options.get("nulls", "equal"))
    known = KnownRows(options.get("known_rows", "worse"))
    roles = Roles((ODD, "age"), entity=options.get("entity"), nulls=nulls, known_rows=known)
    require = (requirement_from("k_anonymity", {"k": 2}),)
    request = LatticeRequest(Target(query=query), roles, require, hierarchies=HIERARCHIES, suppression=Fraction(1, 5))
    with Explorer.open(None, request) as explorer:
        met = {node.levels: (node.rows_left_out, node.loss) for node in explorer.nodes() if node.meets}
        assert met == {node.levels: (node.failing_rows, pytest.approx(node.loss)) for node in found.safe_nodes}
        assert [one.name for one in explorer.proposals()] == [one.name for one in found.proposals or ()]


def test_a_report_has_the_proposals_of_an_explorer(tmp_path: Path) -> None:
    options: dict[str, Any] = {"query": values_query(people(), COLUMNS), "qi": [ODD, "age"], "require": "k=5"}
    found = sqlaudit.lattice(**options, hierarchies=HIERARCHIES, suppress="10%")
    everything = sqlaudit.lattice(**options, hierarchies=HIERARCHIES, suppress="10%", find="all")
    with exploring(None, people(), K5, suppression=Fraction(1, 10)) as explorer:
        proposals = [(one.name, one.node.levels, one.node.rows_left_out) for one in explorer.proposals()]
        assert [one.name for one in explorer.proposals(limit_rows=0)] != [name for name, *_ in proposals]
    for result in (found, everything):
        assert [(one.name, one.levels, one.suppressed_rows) for one in result.proposals or ()] == proposals
    assert len(proposals) > 1
    found.save(tmp_path / "report.md")
    assert "Leave out no one" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert found.to_dict()["lattice"]["proposals"][0]["levels"] == list(found.best.levels if found.best else ())
    chain = sqlaudit.lattice(**options, hierarchies=HIERARCHIES, find="chain")
    assert chain.proposals is None


def test_columns_without_levels_or_values_are_explored() -> None:
    rows = [{"age": None, ODD: "", "s": "x", "note": "", "name": "A", "n": n % 2} for n in range(12)]
    query = values_query(rows, COLUMNS)
    require = (requirement_from("k_anonymity", {"k": 7}),)
    for hierarchies, nodes in (({"age": "drop", "n": "drop"}, 1), ({"age": "keep", "n": "keep"}, 1), ({"n": "*"}, 2)):
        roles = Roles(("age", "n"))
        request = LatticeRequest(Target(query=query), roles, require, hierarchies={"age": "keep", **hierarchies})
        with Explorer.open(None, request) as explorer:
            found = sqlaudit.lattice(query=query, qi=["age", "n"], require="k=7", hierarchies=request.hierarchies)
            assert len(explorer.nodes()) == nodes
            assert [node.levels for node in explorer.nodes() if node.meets][:1] == [
                node.levels for node in [found.best] if node
            ]
