"""The file of further inputs: what it may hold, how values are named, and one sentence a mistake."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.audits.request import AuditRequest
from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.spec import Roles, Target
from sqlaudit.classes.attribute_inputs import ABSENT, inputs_of, refuse_ambiguous_inputs
from sqlaudit.classes.facts import SensitiveTable
from sqlaudit.classes.inputs import further_targets, load_inputs, population_target, read_inputs

WHOLE = """\
categories:
  lung: [flu, "null"]
  other: [yes, 010, 1.10]
dont_care: [~, cold]
must_occur: [flu]
order: [cold, flu]
tree:
  chest:
    acute: [flu]
    lasting:
  cold: cold
  rest: [x, {deep: [y, {deeper: [z]}]}]
class_function: {flu: 1.5, null: -2}
width: 0.5
kappa: 2
alpha: {flu: 0}
population: people.csv
original_qi: [age, zip / 10]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "in.yml"
    path.write_text(text, encoding="utf-8")
    return path


def table(values: list[Any], *, ordered: bool = False, text: bool = True) -> SensitiveTable:
    """Each value once; NULL last."""
    return SensitiveTable("disease", (1,) * len(values), values[-1] is None, ordered, text, tuple(values))


def test_a_whole_file(tmp_path: Path) -> None:
    inputs = load_inputs(written(tmp_path, WHOLE))
    assert inputs["categories"]["lung"].names == ("flu", "null")
    assert inputs["categories"]["other"].names == ("yes", "010", "1.10")
    assert inputs["dont_care"].names == (None, "cold")
    assert inputs["order"].names == ("cold", "flu")
    assert inputs["tree"].leaves == {
        "flu": ("chest", "acute"),
        "lasting": ("chest",),
        "cold": ("cold",),
        "x": ("rest",),
        "y": ("rest", "deep"),
        "z": ("rest", "deep", "deeper"),
    }
    assert inputs["tree"].height == 4
    assert inputs["class_function"].values == {"flu": Fraction(3, 2), None: Fraction(-2)}
    assert (inputs["width"], inputs["kappa"]) == (Fraction(1, 2), 2)
    assert inputs["original_qi"] == ("age", "zip / 10")
    assert population_target(inputs, Target("t")).relation == "people.csv"
    assert read_inputs(inputs) is inputs


def test_an_empty_file(tmp_path: Path) -> None:
    assert load_inputs(written(tmp_path, "# nothing\n")) == {}


def test_python_mappings_mean_the_same(tmp_path: Path) -> None:
    text = "categories: {a: [x, 1]}\ndont_care: [null]\nclass_function: {x: 0.25, null: 1}\noriginal_qi: age\n"
    from_file = load_inputs(written(tmp_path, text))
    from_python = read_inputs(
        {
            "categories": {"a": ["x", 1]},
            "dont_care": [None],
            "class_function": {"x": 0.25, None: 1},
            "original_qi": "age",
        }
    )
    assert from_python["categories"]["a"].names == from_file["categories"]["a"].names
    assert from_python["dont_care"].names == from_file["dont_care"].names
    assert from_python["class_function"].values == from_file["class_function"].values
    assert from_python["original_qi"] == from_file["original_qi"] == ("age",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("categroies: {}", "line 1: there is no input 'categroies'. Did you mean 'categories'?"),
        ("\n\nwidth: wide", "line 3: 'width' must be a number, for example 0.5."),
        ("width: 0", "line 1: 'width' is greater than 0."),
        ("width: 1e99", "line 1: 'width' is a number between 1e-30 and 1e30, or 0."),
        ("kappa: nan", "line 1: 'kappa' must be a number, for example 0.5."),
        ("alpha: {x: -1}", "line 1: 'alpha' is at least 0."),
        ("order: x", "line 1: a list of values must be a list, for example [a, b]."),
        ("order: [x,\n  x]", "line 1: a value is listed twice."),
        ("order: [[x]]", "line 1: a list of values takes single values here, not a list or mapping."),
        ("categories: [x]", "line 1: 'categories' must be a mapping, for example {name: …}."),
        ("categories:\n  a: [x]\n  a: [y]", "line 3: the same key is here twice."),
        ("width: 1\nwidth: 2", "line 2: the same key is here twice."),
        ("categories: {a: [x, y]}\ndont_care: [x]", "line 1: 1 of the values of this category are also under"),
        ("tree: [x, {b: [x]}]", "line 1: this leaf is in the tree twice."),
        ("tree: []", "line 1: the tree has no leaves."),
        ("tree: [x]\ntree_csv: t.csv", "tree"),
        ("- a", "line 1: the file must be a mapping"),
        ("a: [", "is not YAML"),
        ("width: &a [*a]", "line 1: contains itself."),
        ("population: {table: a, query: b}", "line 1: 'population' has a table or a query"),
        ("population: {where: a}", "line 1: 'population' has a table or a query"),
        ("population: []", "line 1: 'population' is a text."),
        ("sensitive: {disease: {population: p}}", "line 1: there is no input 'population'."),
        ("width: 1\nsensitive: {disease: {kappa: 1}}", "'width' is next to 'sensitive'"),
        ("sensitive: [a]", "line 1: 'sensitive' must be a mapping"),
    ],
)
def test_one_sentence_a_mistake(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "t.csv").write_text("x;*\n", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_inputs(written(tmp_path, text))
    assert sentence in str(caught.value)
    assert "in.yml" in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.yml: cannot be read"):
        load_inputs(tmp_path / "nothing.yml")
    (tmp_path / "in.yml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match="not text in UTF-8"):
        load_inputs(tmp_path / "in.yml")


# --- hierarchies in CSV ---


@pytest.mark.parametrize(
    ("text", "height", "leaves"),
    [
        ("flu;acute;chest;*\ncold;acute;chest;*\n;other;else;*\n", 3, {"flu": 2, "cold": 2, None: 2}),
        ('flu,acute\n"a, b",acute\nx,other\n', 2, {"flu": 1, "a, b": 1, "x": 1}),
        ("flu;*\n\ncold;*\n", 1, {"flu": 0, "cold": 0}),
    ],
)
def test_csv_hierarchies(tmp_path: Path, text: str, height: int, leaves: dict[str | None, int]) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    tree = load_inputs(written(tmp_path, "tree_csv: t.csv"))["tree"]
    assert tree.height == height
    assert {leaf: len(above) for leaf, above in tree.leaves.items()} == leaves


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a;b;*\nc;*\n", "line 2: has 2 fields, but the first line has 3."),
        ("a;x;p;*\nb;x;q;*\n", "line 2: the group at level 1 is under another group in an earlier line."),
        ("a;*\na;*\n", "line 2: this leaf is in the tree twice."),
        ("", "has no levels. A hierarchy has lines of the form"),
    ],
)
def test_csv_hierarchies_that_are_no_tree(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_inputs(written(tmp_path, "tree_csv: t.csv"))
    assert sentence in str(caught.value)
    with pytest.raises(InputError, match="cannot be read"):
        load_inputs(written(tmp_path, "tree_csv: none.csv"))


# --- values on lanes ---


@pytest.mark.parametrize(
    ("values", "text", "names", "lanes"),
    [
        (["1", "1.0", "null", None], True, ["1.0", "null", None, "1", "01"], [1, 2, 3, 0, ABSENT]),
        ([1, 2, 30], False, ["1.0", "3e1", 2, "x"], [0, 2, 1, ABSENT]),
        ([0.5, 2.0, float("inf")], False, ["0.50", "2", "INF"], [0, 1, 2]),
        ([Decimal("-0.0010"), Decimal("10.00")], False, ["-0.001", 10], [0, 1]),
        ([False, True, None], False, ["true", False, None], [1, 0, 2]),
        ([datetime.date(2024, 2, 29)], False, ["2024-02-29"], [0]),
        ([10**40, 10**40 + 1], False, [str(10**40 + 1), str(10**40)], [1, 0]),
        (["Flu", "flu"], True, ["flu", "FLU"], [1, ABSENT]),
    ],
)
def test_how_values_are_named(values: list[Any], text: bool, names: list[Any], lanes: list[int]) -> None:
    found = inputs_of(read_inputs({"dont_care": names}), "disease", table(values, text=text))
    assert found["dont_care"] == tuple(lane for lane in lanes if lane != ABSENT)


def test_an_order_keeps_the_place_of_absent_values() -> None:
    found = inputs_of(read_inputs({"order": ["x", "b", "y", "a"]}), "disease", table(["a", "b"]))
    assert found["order"] == (ABSENT, 1, ABSENT, 0)


@pytest.mark.parametrize(
    ("inputs", "key", "sentence"),
    [
        ({"order": ["a"]}, "order", "2 values of disease (one of them NULL, which is written null) are missing from"),
        ({"tree": ["a", None]}, "tree", "1 value of disease is missing from the tree."),
        ({"categories": {"x": ["a"]}, "dont_care": [None]}, "categories", "1 value of disease is missing from every"),
        ({"class_function": {"a": 1, "b": 2}}, "class_function", "1 value of disease (one of them NULL"),
        ({"class_function": "identity"}, "class_function", "'identity' needs finite numbers"),
    ],
)
def test_what_is_named_nowhere_is_counted_not_shown(inputs: dict[str, Any], key: str, sentence: str) -> None:
    found = inputs_of(read_inputs(inputs), "disease", table(["a", "b", None]))
    with pytest.raises(UsageError) as caught:
        found[key]
    assert sentence in str(caught.value)


def test_values_named_in_two_ways() -> None:
    numbers = table([1, 2], ordered=True, text=False)
    with pytest.raises(UsageError, match="is listed twice, in two spellings"):
        inputs_of(read_inputs({"order": ["1", "1.0", "2"]}), "disease", numbers)["order"]
    with pytest.raises(UsageError, match="is also under 'dont_care'"):
        inputs_of(read_inputs({"categories": {"c": ["1"]}, "dont_care": ["1.0", 2]}), "disease", numbers)["categories"]
    with pytest.raises(UsageError, match="a class function must not fall"):
        inputs_of(read_inputs({"class_function": {1: 5, 2: 4}}), "disease", numbers)["class_function"]
    nulls = table([1, None], ordered=True, text=False)
    with pytest.raises(UsageError, match="has NULLs, which are not numbers"):
        inputs_of(read_inputs({"class_function": "identity"}), "disease", nulls)["class_function"]


def test_sections_belong_to_their_attribute() -> None:
    inputs = read_inputs({"sensitive": {"Disease": {"dont_care": ["a"]}, "pay": {"dont_care": ["b"]}}})
    assert inputs_of(inputs, "disease", table(["a", "b"]))["dont_care"] == (0,)
    assert inputs_of(inputs, "pay", table(["a", "b"]))["dont_care"] == (1,)
    assert "dont_care" not in inputs_of(inputs, "age", table(["a", "b"]))
    refuse_ambiguous_inputs(inputs, ["disease", "pay"])
    with pytest.raises(UsageError, match="the top level, but there are 2 sensitive attributes"):
        refuse_ambiguous_inputs(read_inputs({"width": 1}), ["disease", "pay"])


# --- through the audit ---


def test_sections_and_a_frame_as_population() -> None:
    people = pd.DataFrame({"zip": [1, 1, 1, 2], "disease": list("abab"), "pay": [1, 2, 3, 4]})
    inputs = {"sensitive": {"pay": {"class_function": "identity"}}, "population": pd.concat([people, people])}
    result = sqlaudit.audit(people, qi=["zip"], sensitive=["disease", "pay"], inputs=inputs)
    found = {(check.model, check.sensitive): check.level for check in result.checks}
    assert found["delta_range_control", "pay"] == 0
    assert ("delta_range_control", "disease") not in found
    assert found["marketer_risk", None] == Fraction(1, 4)
    assert found["k_map", None] == 2


def test_what_is_read_besides_the_target() -> None:
    spec = AuditRequest(Target("t"), Roles(("zip",)), inputs={"population": {"table": "p", "where": "x > 1"}})
    (target,) = further_targets(spec.inputs, spec.target)
    assert (target.relation, target.where, target.name) == ("p", "x > 1", "p")
    assert further_targets({}, Target("t")) == ()


def test_no_value_and_no_name_in_what_is_run() -> None:
    people = pd.DataFrame({"zip": [1, 1, 2], "disease": ["secret-a", "secret-b", "secret-b"], "pay": [911911, 5, 7]})
    inputs = {
        "sensitive": {
            "disease": {
                "categories": {"one": ["secret-a"], "two": ["secret-b"]},
                "order": ["secret-b", "secret-a"],
                "tree": ["secret-a", "secret-b"],
                "class_function": {"secret-a": 1, "secret-b": 2},
                "width": 1,
            },
            "pay": {"class_function": "identity", "width": 2},
        }
    }
    result = sqlaudit.audit(people, qi=["zip"], sensitive=["disease", "pay"], inputs=inputs)
    assert {"t_closeness_hierarchical", "psi_security_estimate"} <= {check.model for check in result.checks}
    assert not [s.name for s in result.statements if "secret" in s.sql or "911911" in s.sql or "911906" in s.sql]


def test_what_is_missing_is_named() -> None:
    people = pd.DataFrame({"zip": [1, 1], "disease": ["a", "b"]})
    with pytest.raises(UsageError, match="needs population and original_qi; give them in a file with inputs="):
        sqlaudit.audit(people, qi=["zip"], sensitive="disease", require=["belief=0.5"])
    with pytest.raises(UsageError, match="needs dont_care"):
        sqlaudit.audit(people, qi=["zip"], sensitive="disease", require=["dilution=0.5"])
