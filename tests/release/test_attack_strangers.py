"""What strangers try: planted values that must not come out, every attack at once on both engines, nothing to try."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import Ran, as_parquet, run, write_csv
from tests.postgres_load import Loader
from tests.reports.schemas import validator

SECRET = re.compile(r"Zebra-Fever|Quokka-Pox|Yeti Street|Xylophon|(?<![\d.])4711(?!\d)")
"""Values of every table; digits of a time are none."""
AGES = [34, 36, 31, 38, 37, 4711, 4712, 4719, 4713]
STREETS = ["Yeti Street"] * 5 + ["Elm"] * 4
ILL = ["Zebra-Fever", "Zebra-Fever", "flu", "cold", "Quokka-Pox", "flu", "cold", "Quokka-Pox", "burn"]
PAY = [10, 20, 30, 40, 50, 12, 13, 14, 15]
HIERARCHIES = """
hierarchies:
  age: {widths: [10, 100]}
  street: {values: {"Yeti Street": [away], Elm: [home]}}
"""
CATEGORIES = """
sensitive:
  ill: {categories: {rare: [Zebra-Fever, Quokka-Pox], usual: [flu, cold, burn]}}
"""


def tens(age: int) -> str:
    return f"[{age // 10 * 10}, {age // 10 * 10 + 10})"


def rows(*, other: bool) -> list[tuple[Any, ...]]:
    """A release: ages in tens; the other one: exact ages for some, no streets."""
    return [
        (i, "*", str(age), ill, pay) if other else (i, street, tens(age), ill, pay)
        for i, (street, age, ill, pay) in enumerate(zip(STREETS, AGES, ILL, PAY, strict=True))
    ]


PEOPLE = [(i, street, age, f"Xylophon {i}") for i, (street, age) in enumerate(zip(STREETS, AGES, strict=True))]
NAMES = ["id", "street", "age", "ill", "pay"]


@pytest.fixture(
    params=["duckdb", *(pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("postgres", "spark"))]
)
def attacked(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """`attacked(options)` runs every attack on the engine."""
    tables: dict[str, tuple[list[str], list[tuple[Any, ...]]]] = {
        "attacked_release": (NAMES, rows(other=False)),
        "attacked_other": (NAMES, rows(other=True)),
        "attacked_people": (["id", "street", "age", "name"], PEOPLE),
    }
    where: list[object] = []
    called = {name: name for name in tables}
    if request.param == "postgres":
        load: Loader = request.getfixturevalue("load")
        where = ["--db", request.getfixturevalue("postgres_url")]
        for name, (columns, data) in tables.items():
            load(name, data, columns)
    else:
        for name, (columns, data) in tables.items():
            lines = [",".join(f'"{cell}"' if isinstance(cell, str) else str(cell) for cell in row) for row in data]
            file = write_csv(tmp_path / f"{name}.csv", ",".join(columns), *lines)
            called[name] = str(as_parquet(file) if request.param == "spark" else file)
    if request.param == "spark":
        where = ["--db", request.getfixturevalue("spark_url")]
    for name, text in (("h.yml", HIERARCHIES), ("c.yml", CATEGORIES)):
        (tmp_path / name).write_text(text)

    def attack(*options: object, sensitive: str = "ill,pay") -> Ran:
        return run(
            "attack",
            *where,
            called["attacked_release"],
            "--qi",
            "street,age",
            "--sensitive",
            sensitive,
            "--identified",
            called["attacked_people"],
            "--key",
            "id",
            "--other-release",
            called["attacked_other"],
            "--position",
            "id",
            "--hierarchies",
            tmp_path / "h.yml",
            "--categories",
            tmp_path / "c.yml",
            "--k",
            "3",
            *(("--width", "40") if "pay" in sensitive else ()),
            *options,
        )

    return attack


def test_no_planted_value_comes_out(attacked: Any, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    page = tmp_path / "page.html"
    said = [attacked("--show-sql", "--output", page), attacked("--show-sql", "--require", "l=2", sensitive="ill")]
    said += [attacked("--dry-run"), attacked("--explain"), attacked("--match", "street=nowhere")]
    if request.node.callspec.params["attacked"] == "duckdb":  # another layout of the same result
        said.append(attacked("--format", "json"))
    assert [ran.code for ran in said] == [0, 0, 0, 0, 2, 0][: len(said)]
    assert "SELECT" in said[0].err
    everything = "".join(ran.out + ran.err for ran in said) + page.read_text("utf-8")
    assert SECRET.findall(everything) == []
    shown = attacked("--where", "id < 2", "--only", "homogeneity", "--show-values").out
    assert "Zebra-Fever" in SECRET.findall(shown)


def test_every_attack_at_once_gives_the_same_on_both_engines(attacked: Any) -> None:
    found = json.loads(attacked("--format", "json").out)
    validator("attack").validate(found)
    exposed = {(one["attack"], one["sensitive"]): (one["exposed"], one["of"]) for one in found["attacks"]}
    assert exposed == {
        ("linkage", None): (0, 9),
        ("linkage_attribute", "ill"): (0, 9),
        ("linkage_attribute", "pay"): (0, 9),
        ("homogeneity", "ill"): (0, 9),
        ("homogeneity", "pay"): (0, 9),
        ("background_knowledge", "ill"): (9, 9),
        ("background_knowledge", "pay"): (4, 9),
        ("skewness", "ill"): (1, 9),
        ("skewness", "pay"): (4, 9),
        ("similarity", "ill"): (0, 9),
        ("similarity", "pay"): (9, 9),
        ("unsorted_matching", None): (9, 9),
        ("complementary_releases", None): (0, 9),
    }
    figures = {one["attack"]: one["figures"] for one in found["attacks"]}
    assert (figures["unsorted_matching"]["below_k_before"], figures["unsorted_matching"]["below_k_after"]) == (0, 9)
    assert (figures["complementary_releases"]["below_k"], figures["linkage"]["confirmed"]) == (9, 9)
    assert [one["attack"] for one in found["not_tried"]] == ["minimality"]


def test_minimality_beside_the_others(attacked: Any) -> None:
    found = json.loads(attacked("--require", "l=2", "--format", "json", sensitive="ill").out)
    (one,) = [one for one in found["attacks"] if one["attack"] == "minimality"]
    assert (one["exposed"], one["of"], one["figures"]["finer_nodes"]) == (0, 9, 1)
    both = json.loads(attacked("--require", "l=2", "--only", "minimality", "--format", "json").out)
    reasons = [one["reason"] for one in both["not_tried"]]
    assert reasons == ["It needs one sensitive attribute, one row per person, and --nulls equal."]


def test_nothing_to_try(tmp_path: Path) -> None:
    release = write_csv(tmp_path / "r.csv", "age,s", "1,x")
    ran = run("attack", release, "--qi", "age", "--only", "linkage,homogeneity")
    assert (ran.code, "r.csv: no attack could be tried" in ran.said) == (0, True)
    assert "Homogeneity. It needs a sensitive attribute (--sensitive)." in ran.said
