"""Random small tables to audit: NULLs, ties, one row, one class, one value, duplicates, persons with several rows."""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st

from sqlaudit.base.spec import Requirement
from sqlaudit.models.registry import requirement_from
from tests import oracle

POOLS: Mapping[str, list[Any]] = {
    "text": ["flu", "cold", "HIV", "flü", "ß", "a 'quoted'; --", "😀", ""],
    "int": [3, 1, 2, -7, 10**15, 5],
    "float": [1.5, -0.25, math.inf, -math.inf, math.nan, 1e300],
    "decimal": [Decimal("0.0001"), Decimal("-3.5"), Decimal("123456789012.5"), Decimal("7")],
    "date": [datetime.date(2020, 2, 29), datetime.date(1900, 1, 1), datetime.date(2020, 3, 1)],
    "bool": [True, False],
}
KEYS: Mapping[str, tuple[str, list[Any]]] = {
    "a": ("int", [0, 1, 2]),
    "b": ("text", ["x", "X", "y;'\"", "é"]),
    "c": ("bool", [True, False]),
}
DECIMALS = [Fraction(n, 20) for n in range(21)]


FEWER_ON_SPARK = 20
"""A statement on Spark takes tens of milliseconds, so that the randomized tests get one in so many of their cases."""
USUALLY_ONE_IN = 4
"""Of the cases that `--cases all` runs, so many are run each time, but never fewer than `AT_LEAST`."""
AT_LEAST = 5
AT_MOST_ON_SPARK = 3
FEWER_ON_POSTGRES = 3
AT_LEAST_ON_POSTGRES = 3
"""A body that runs on DuckDB with all of its cases meets every rule there. PostgreSQL may differ in its SQL, whose
spelling takes longer than the answer: it gets the first third of the same cases, never fewer than so many."""


def on_spark() -> bool:
    """Whether this run of the tests is one on Spark."""
    return "spark" in os.environ.get("SQLAUDIT_ENGINES", "")


def fewer(number: int, some: int | None = None) -> int:
    """How many cases of so many a test has in this run: all with `--cases all`, else some, and on Spark a few.

    Args:
        number: all of them.
        some: how many meet the faults that all of them meet, where somebody has tried that with faults put into what
            is tested; None = a quarter.
    """
    usual = min(number, max(AT_LEAST, number // USUALLY_ONE_IN)) if some is None else some
    if on_spark():
        return min(AT_MOST_ON_SPARK, usual, max(2, number // FEWER_ON_SPARK))
    return number if os.environ.get("SQLAUDIT_CASES") == "all" else usual


def fewer_on(engine: str, of: settings) -> settings:
    """The settings of a test on one engine of several: the same cases, of which the slower ones get the first."""
    if engine != "postgres" or os.environ.get("SQLAUDIT_CASES") == "all":
        return of
    return settings(
        of, max_examples=min(of.max_examples, max(AT_LEAST_ON_POSTGRES, of.max_examples // FEWER_ON_POSTGRES))
    )


def run(number: int, some: int | None = None) -> settings:
    """The settings of every randomized test: the same cases in every run, and no time limit on one; see `fewer`."""
    phases = (Phase.explicit, Phase.generate) if on_spark() else tuple(Phase)  # no failure is made smaller for an hour
    return settings(max_examples=fewer(number, some), derandomize=True, deadline=None, database=None, phases=phases)


@dataclass(frozen=True)
class Case:
    """A table, its columns' kinds, the roles, and what is required."""

    rows: list[dict[str, Any]]
    columns: dict[str, str]
    qi: list[str]
    sensitive: str | None
    entity: str | None
    nulls: str
    require: list[Requirement]

    def table(self) -> oracle.Table:
        """What brute force makes of it."""
        return oracle.table_of(self.rows, self.qi, self.sensitive, self.entity, self.nulls)


def limits_of(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Parameters of a model; limits are often where verdicts turn."""
    small = st.integers(1, 5)
    limits: dict[str, st.SearchStrategy[dict[str, Any]]] = {
        "k_anonymity": st.fixed_dictionaries({"k": small}),
        "alpha_k_anonymity": st.fixed_dictionaries({"alpha": st.sampled_from(DECIMALS)}, optional={"k": small}),
        "distinct_l_diversity": st.fixed_dictionaries({"l": small}),
        "entropy_l_diversity": st.fixed_dictionaries(
            {"l": st.sampled_from([Fraction(n, 4) for n in range(4, 17)] + [Fraction("1.889881575")])}
        ),
        "recursive_c_l_diversity": st.fixed_dictionaries(
            {"c": st.sampled_from([Fraction(n, 4) for n in range(13)])}, optional={"l": small}
        ),
        "basic_beta_likeness": st.fixed_dictionaries({"beta": st.sampled_from([Fraction(n, 4) for n in range(13)])}),
        "delta_disclosure_privacy": st.fixed_dictionaries(
            {"delta": st.sampled_from([Fraction(n, 10) for n in range(15)] + [Fraction("0.693147181")])}
        ),
        "rows_at_risk": st.fixed_dictionaries(
            {"share": st.sampled_from(DECIMALS)}, optional={"threshold": st.sampled_from(DECIMALS)}
        ),
        "prosecutor_risk": st.fixed_dictionaries({"risk": st.sampled_from(DECIMALS)}),
        "average_risk": st.fixed_dictionaries({"risk": st.sampled_from(DECIMALS)}),
        "sample_uniqueness": st.fixed_dictionaries({"share": st.sampled_from(DECIMALS)}),
        "t_closeness": st.fixed_dictionaries({"t": st.sampled_from(DECIMALS)}),
    }
    limits["enhanced_beta_likeness"] = limits["basic_beta_likeness"]
    limits["t_closeness_ordered"] = limits["t_closeness"]
    return limits[name]


SIZE_MODELS = ("k_anonymity", "prosecutor_risk", "average_risk", "rows_at_risk", "sample_uniqueness")
WILDCARD_MODELS = ("k_anonymity", "distinct_l_diversity", "prosecutor_risk", "rows_at_risk", "sample_uniqueness")
MAIN = {
    "k_anonymity": "k",
    "alpha_k_anonymity": "alpha",
    "distinct_l_diversity": "l",
    "t_closeness": "t",
    "t_closeness_ordered": "t",
    "basic_beta_likeness": "beta",
    "enhanced_beta_likeness": "beta",
    "recursive_c_l_diversity": "c",
    "prosecutor_risk": "risk",
    "average_risk": "risk",
    "rows_at_risk": "share",
    "sample_uniqueness": "share",
}


@st.composite
def cases(draw: st.DrawFn, nulls: str = "", kinds: tuple[str, ...] = tuple(POOLS), rows: int = 24) -> Case:
    """A table with its roles, and one requirement for every model that has a meaning for it."""
    policy = nulls or draw(st.sampled_from(["equal", "equal", "distinct"]))
    qi = draw(st.sampled_from([["a"], ["a", "b"], ["b", "a", "c"]]))
    kind = draw(st.sampled_from(kinds))
    values = draw(st.lists(st.sampled_from(POOLS[kind]), min_size=1, max_size=6, unique_by=str))
    values += draw(st.sampled_from([[], [None]]))
    fields = {name: _key(draw, name) for name in qi}
    sensitive = draw(st.sampled_from(["s", "s", "s", "s", None]))
    entity = draw(st.sampled_from([None, None, "person"]))
    row = st.fixed_dictionaries({**fields, "s": st.sampled_from(values), "person": st.integers(0, 7)})
    table = draw(st.lists(row, max_size=rows))
    case = Case(
        table, {**{name: KEYS[name][0] for name in qi}, "s": kind, "person": "int"}, qi, sensitive, entity, policy, []
    )
    for name in _models(case):
        case.require.append(_requirement(draw, case, name))
    return case


def _key(draw: st.DrawFn, name: str) -> st.SearchStrategy[Any]:
    values = draw(st.lists(st.sampled_from(KEYS[name][1]), min_size=1, unique=True))
    return st.sampled_from(values + draw(st.sampled_from([[], [None]])))


def _models(case: Case) -> list[str]:
    names: list[str] = list(WILDCARD_MODELS if case.nulls == "wildcard" else oracle.MODELS)
    if case.sensitive is None:
        return [name for name in names if name in SIZE_MODELS]
    ordered = case.columns["s"] != "text" and all(row["s"] is not None for row in case.rows)
    return [name for name in names if ordered or name != "t_closeness_ordered"]


def _requirement(draw: st.DrawFn, case: Case, name: str) -> Requirement:
    """A requirement; now and then its limit is exactly what the table achieves."""
    parameters = draw(limits_of(name))
    if name in MAIN and draw(st.booleans()):
        level = oracle.MODELS[name](case.table(), **parameters).level
        if isinstance(level, int | Fraction) and (level > 0 or name not in ("k_anonymity", "distinct_l_diversity")):
            parameters[MAIN[name]] = level
    return requirement_from(name, parameters)
