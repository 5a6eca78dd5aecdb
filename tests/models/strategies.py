"""Random small tables with the further inputs that the rarer models need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests import oracle
from tests.audit_values import values_query
from tests.few import ALL
from tests.models.oracle_rare import Given, apart

POOLS: dict[str, list[Any]] = {
    "text": ["flu", "cold", "HIV", "flü", "null", "a 'quoted'; --", "1"],
    "int": [3, 1, 2, -7, 10**15, 5],
    "bool": [True, False],
}
COLUMNS = {"a": "int", "b": "text", "z": "int"}
TWENTIETHS = [Fraction(n, 20) for n in range(21)]
QUARTERS = [Fraction(n, 4) for n in range(13)]


@dataclass(frozen=True)
class RareCase:
    """A table, its roles, its inputs (for the oracle by value, for the package as a user writes them), and limits."""

    rows: list[dict[str, Any]]
    kind: str
    qi: list[str]
    entity: str | None
    given: Given
    limits: dict[str, dict[str, Any]]

    @property
    def columns(self) -> dict[str, str]:
        return {**COLUMNS, "s": self.kind, "person": "int"}

    def table(self, nulls: str = "equal") -> oracle.Table:
        return oracle.table_of(self.rows, self.qi, "s", self.entity, nulls)

    def inputs(self) -> dict[str, Any]:
        """As `sqlaudit.audit(inputs=…)` takes them."""
        given = self.given
        return {
            "categories": {name: list(values) for name, values in given.categories.items()},
            "dont_care": list(given.dont_care),
            "must_occur": list(given.must_occur),
            "order": list(given.order),
            "tree": nested(given.paths),
            "class_function": {value: str(float(number)) for value, number in given.cf.items()},
            "distances": {one: {other: str(float(apart(given, one, other))) for other in given.cf} for one in given.cf},
            "width": str(float(given.width)),
            "kappa": str(float(given.kappa)),
            "alpha": {value: str(float(number)) for value, number in given.alpha.items()},
            "population": {"query": values_query(given.population, {**COLUMNS, "s": self.kind})},
            "original_qi": list(given.original),
        }


def nested(paths: Sequence[tuple[Any, ...]]) -> list[Any]:
    """A tree as a file has it: leaves in lists, inner nodes as keys."""
    children: dict[Any, list[tuple[Any, ...]]] = {}
    out: list[Any] = []
    for path in paths:
        if len(path) == 1:
            out.append(path[0])
        else:
            children.setdefault(path[0], []).append(path[1:])
    return [*out, *({name: nested(below)} for name, below in children.items())]


def limits() -> dict[str, st.SearchStrategy[dict[str, Any]]]:
    """Parameters of every model."""
    share, factor, size = st.sampled_from(TWENTIETHS), st.sampled_from(QUARTERS), st.integers(1, 4)
    recursive = st.fixed_dictionaries({"c1": factor, "c2": share, "l": size})
    c_l = st.fixed_dictionaries({"c": factor, "l": size})
    psi = st.sampled_from([Fraction(n, 16) for n in range(40)])
    return {
        "pd_recursive_c_l_diversity": c_l,
        "npd_recursive_c1_c2_l_diversity": recursive,
        "npd_recursive_c1_c2_l_diversity_of_set": recursive,
        "extended_k_anonymity": st.fixed_dictionaries({"k": size}),
        "t_closeness_ordered": st.fixed_dictionaries({"t": share}),
        "t_closeness_hierarchical": st.fixed_dictionaries({"t": share}),
        "l_categorical_diversity": st.fixed_dictionaries({"l": size}),
        "d_density_control": st.fixed_dictionaries({"d": share}),
        "mu_dilution": st.fixed_dictionaries({"mu": share}),
        "c_l_categorical_recursive_diversity": c_l,
        "c_l_density_control": c_l,
        "delta_range_control": st.fixed_dictionaries({"delta": factor}),
        "l_r_linear_diversity": st.fixed_dictionaries({"l": size, "r": factor}),
        "psi_security_estimate": st.fixed_dictionaries({"psi": psi}),
        "psi_positive_disclosure": st.fixed_dictionaries({"psi": psi}),
        "t_closeness_numeric": st.fixed_dictionaries({"t": factor}),
        "t_closeness_matrix": st.fixed_dictionaries({"t": factor}),
        "journalist_risk": st.fixed_dictionaries({"risk": share}),
        "marketer_risk": st.fixed_dictionaries({"risk": share}),
        "k_map": st.fixed_dictionaries({"k": size}),
        "delta_presence": st.tuples(share, share).map(lambda two: {"min": min(two), "max": max(two)}),
        "bayes_optimal_belief": st.fixed_dictionaries({"posterior": share}),
        "rho1_rho2_breach": st.fixed_dictionaries({"rho1": share, "rho2": share}),
        "delta_positive_disclosure": st.fixed_dictionaries({"delta": share}),
        "epsilon_negative_disclosure": st.fixed_dictionaries({"epsilon": share}),
    }


PERSONAL = ("bayes_optimal_belief", "rho1_rho2_breach", "delta_positive_disclosure", "epsilon_negative_disclosure")
COUNTED = ("journalist_risk", "marketer_risk", "k_map", "delta_presence")


@st.composite
def rare_cases(draw: st.DrawFn, rows: int = 16) -> RareCase:
    """A table with everything; people in several groups only without the models that need one place a person."""
    kind = draw(st.sampled_from(list(POOLS)))
    values = draw(st.lists(st.sampled_from(POOLS[kind]), min_size=1, max_size=5, unique=True))
    values += draw(st.sampled_from([[], [None]]))
    used = draw(st.lists(st.sampled_from(values), min_size=1, unique=True))
    qi = draw(st.sampled_from([["a"], ["a", "b"]]))
    row = st.fixed_dictionaries(
        {
            "a": st.sampled_from([0, 1, None]),
            "b": st.sampled_from(["x", "y;'\"", None]),
            "z": st.integers(0, 2),
            "s": st.sampled_from(used),
            "person": st.integers(0, 5),
        }
    )
    least = 1 if ALL else 4  # the first case of each test has no row; of the few others each is to tell something
    table = draw(st.lists(row, min_size=least, max_size=rows)) if draw(st.integers(0, 7)) else []
    others = draw(st.lists(row, max_size=8))
    entity = draw(st.sampled_from([None, None, "person"]))
    given = draw(_given(values, kind, [*table, *others], qi))
    chosen = {
        name: draw(limit)
        for name, limit in limits().items()
        if not (entity and name in PERSONAL) and not (entity and name in COUNTED)
    }
    return RareCase(table, kind, qi, entity, given, chosen)


@st.composite
def _given(draw: st.DrawFn, values: list[Any], kind: str, people: list[dict[str, Any]], qi: list[str]) -> Given:
    names = ["one", "two", "three"]
    membership = {value: draw(st.sets(st.sampled_from(names))) for value in values}
    ordered = sorted((value for value in values if value is not None), key=lambda v: v)
    steps = [draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)])) for _ in values]
    heights = {value: sum(steps[: place + 1], Fraction(0)) for place, value in enumerate([*ordered])}
    if None in values:
        heights[None] = draw(st.sampled_from([Fraction(-1), Fraction(1)]))
    branch = st.lists(st.sampled_from(["p", "q"]), max_size=2)
    return Given(
        categories={name: frozenset(v for v in values if name in membership[v]) for name in names},
        dont_care=frozenset(v for v in values if not membership[v]),
        must_occur=draw(st.lists(st.sampled_from(values), unique=True, max_size=2)),
        order=draw(st.permutations(values)),
        paths=[(*draw(branch), value) for value in values],
        cf=heights,
        width=draw(st.sampled_from([Fraction(1, 2), Fraction(2)])),
        kappa=draw(st.sampled_from([Fraction(1), Fraction(3, 2)])),
        alpha=draw(
            st.dictionaries(st.sampled_from(values), st.sampled_from([Fraction(0), Fraction(1, 2)]), max_size=2)
        ),
        population=people,
        qi=qi,
        original=draw(st.sampled_from([["z"], ["z", "b"]])),
        sensitive="s",
    )
