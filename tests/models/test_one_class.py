"""A privacy model is one class: what other packages ask of it is an attribute or a method, never its name or kind."""

from __future__ import annotations

import ast
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.classes.facts import Fact, Level
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.models import base
from sqlaudit.models.base import ClassModel, Judgement, Model, Parameter, expression
from sqlaudit.models.cell_rules import CellRule
from sqlaudit.models.diversity import LARGEST, SMALLEST
from sqlaudit.models.persons import PersonsModel
from sqlaudit.models.registry import CELL_RULES, OF_RELEASES, OF_SYNTHETIC, REGISTRY
from sqlaudit.models.releases import SeriesModel
from sqlaudit.models.synthetic import SyntheticModel

PACKAGE = Path(sqlaudit.__file__).parent
ROWS = pd.DataFrame({"q": list("aaaabbbbb"), "r": list("xxyyxxyyy"), "s": list("uuvvuuuvw")})


class Spread(ClassModel):
    """No count is more than so many rows above the smallest one of its class."""

    name: ClassVar[str] = "spread_of_counts"
    title: ClassVar[str] = "spread of counts"
    definition: ClassVar[str] = "Largest minus smallest count, at most the limit in every class."
    reference: ClassVar[str] = "this test"
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("most", "integer", "largest difference allowed", Fraction(0)),)
    short_forms: ClassVar = ("spread",)
    main: ClassVar[str] = "most"
    inherited: ClassVar[bool] = False

    def facts(self) -> tuple[Fact, ...]:
        return LARGEST, SMALLEST

    def levels(self) -> dict[str, Level]:
        return {"most": Level("MAX", "largest - smallest")}

    def failing(self) -> str:
        return expression("above", fact="largest - smallest", limit=self.values["most"])


class Uneven(base.SizeModel):
    """The share of the rows that the largest class has."""

    name: ClassVar[str] = "share_of_largest"
    title: ClassVar[str] = "share of the largest class"
    definition: ClassVar[str] = "Rows of the largest class by all rows."
    reference: ClassVar[str] = "this test"
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("share", "decimal", "largest share allowed", Fraction(0), Fraction(1)),)
    main: ClassVar[str] = "share"
    verdict_by_level: ClassVar[bool] = True

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        return Judgement({"share": Fraction(sizes.max_size, sizes.members)})


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    for model in (Spread, Uneven):
        monkeypatch.setitem(REGISTRY, model.name, model)


def test_an_audit_takes_it() -> None:
    require = ["spread=1", "share_of_largest=1/2"]
    spread, share = sqlaudit.audit(ROWS, qi=["q"], sensitive="s", require=require).checks
    assert (spread.level, spread.status, spread.failing_classes, spread.failing_rows) == (2, "fail", 1, 5)
    assert (share.level, share.status, share.failing_classes) == (Fraction(5, 9), "fail", None)


def test_a_search_and_groups_of_classes_take_it(tmp_path: Path) -> None:
    file = tmp_path / "h.yml"
    file.write_text("hierarchies:\n  q: {mask: [1]}\n  r: {mask: [1]}\n", encoding="utf-8")
    request = {"qi": ["q", "r"], "sensitive": "s", "hierarchies": str(file)}
    found = sqlaudit.lattice(ROWS, require=["spread=1"], **request)
    walk = found.to_dict()["lattice"]["walk"]
    told = {tuple(node["levels"]): (node["safe"], node["failing_rows"]) for node in walk}
    assert told == {(2, 2): (False, 9), (0, 2): (False, 5), (2, 0): (False, 5), (0, 0): (True, 0)}
    with pytest.raises(UsageError, match="is about the whole table, not about single classes"):
        sqlaudit.recode(ROWS, require=["share_of_largest=1/2"], qi=["q", "r"], sensitive="s")


def test_one_select_takes_it() -> None:
    found = sqlaudit.compile_checks("patients", qi=["q"], sensitive="s", checks={"spread": 1}, dialect="duckdb")
    assert "largest - smallest > 1" in found[0].sql


KINDS = (base.ClassModel, PersonsModel, CellRule, SeriesModel, SyntheticModel)
MODELS = {**REGISTRY, **CELL_RULES, **OF_RELEASES, **OF_SYNTHETIC}
NAMES = {name for model in MODELS.values() for name in (model.name, *model.short_forms)}
LONG_NAMES = {name for name in NAMES if len(name) > 2}
"""A `k` that is compared with the name of anything is more often an option than a model."""
FIGURES = {"rep_u", "psi_highest"}
"""Names of models that are names of figures in results, too."""
REGISTRIES = {"REGISTRY", "CELL_RULES", "OF_RELEASES", "OF_SYNTHETIC", "OF_COMPARISONS", "OF_PERSONS"}
UNITS = {"counts_people"}
"""What other packages may read although it is true of one kind alone: what is counted, and so fails."""


def classes_below(kind: type[Model]) -> set[str]:
    return {kind.__name__}.union(*map(classes_below, kind.__subclasses__()))


CLASSES = classes_below(Model)


def is_class(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in CLASSES


def is_fixed_name(node: ast.expr) -> bool:
    """Return True for a text, a constant, `SomeModel.name`, or a collection of these."""
    if isinstance(node, ast.Attribute):
        return node.attr == "name" and is_class(node.value)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(is_fixed_name, node.elts))
    if isinstance(node, ast.Name):
        return node.id.isupper() and node.id not in REGISTRIES
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def asked_of_models(node: ast.AST) -> str:
    """Return what a piece of code asks about the name or the kind of a model, if it does."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
        named = {getattr(one, "id", getattr(one, "attr", "")) for one in ast.walk(node.args[1])}
        return "a class of models" if named & CLASSES else ""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        named = {one.attr for one in sides if isinstance(one, ast.Attribute)}
        if "model" in named and any(map(is_fixed_name, sides)):
            return "the name of a model"
        fixed = [
            one
            for side in sides
            for one in ast.walk(side)
            if getattr(one, "value", None) in LONG_NAMES or is_class(one)
        ]
        return "the name of a model" if "name" in named and fixed else ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return "the name of a model" if "_" in node.value and node.value in NAMES - FIGURES else ""
    return "its kind" if isinstance(node, ast.Attribute) and node.attr in flags_of_kinds() - UNITS else ""


@cache
def flags_of_kinds() -> frozenset[str]:
    """The attributes of `Model` that are true of all models of one kind and of no other, or the reverse."""
    flags = [name for name in vars(Model) if isinstance(getattr(Model, name), bool)]
    parts = [{name for name, model in MODELS.items() if issubclass(model, kind)} for kind in KINDS]
    parts += [set(MODELS) - part for part in parts]
    return frozenset(flag for flag in flags if {name for name, one in MODELS.items() if getattr(one, flag)} in parts)


def test_every_model_is_of_one_of_five_kinds() -> None:
    assert all(sum(issubclass(model, kind) for kind in KINDS) == 1 for model in MODELS.values())
    assert {kind for kind in KINDS if kind.__base__ is not Model} == set()


def test_no_other_package_asks_for_the_name_or_the_kind_of_a_model() -> None:
    asking = [
        f"{file.relative_to(PACKAGE)}:{node.lineno} asks for {asked}"  # type: ignore[attr-defined]
        for file in sorted(PACKAGE.rglob("*.py"))
        if (PACKAGE / "models") not in file.parents
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if (asked := asked_of_models(node))
    ]
    assert asking == []


@pytest.mark.parametrize(
    "code",
    [
        'check.model == "k_anonymity"',
        'one.model in ("threshold", "p_percent")',
        "check.model == M_INVARIANCE",
        "rule.name == FewContributors.name",
        "rule.name in (FewContributors.name,)",
        'rule.name == "threshold"',
        "isinstance(item.model, persons.PersonsModel)",
        "issubclass(kind, ContributionBound)",
        'self.checks("population_uniqueness")',
        '{"k_anonymity": "k"}',
    ],
)
def test_such_questions_are_found(code: str) -> None:
    assert any(map(asked_of_models, ast.walk(ast.parse(code))))


@pytest.mark.parametrize(
    "code", ["spec.model is None", "check.model == model.name", "one.model in OF_SYNTHETIC", "item.model.counts_people"]
)
def test_what_a_model_says_of_itself_is_no_such_question(code: str) -> None:
    assert not any(map(asked_of_models, ast.walk(ast.parse(code))))
