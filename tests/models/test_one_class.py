"""A privacy model is one class: whatever a room asks of it is an attribute or a method, and never its kind."""

from __future__ import annotations

import ast
from fractions import Fraction
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
from sqlaudit.models.diversity import LARGEST, SMALLEST
from sqlaudit.models.registry import REGISTRY

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


def test_no_room_asks_for_a_kind_of_models() -> None:
    bases = {name for name, value in vars(base).items() if isinstance(value, type) and issubclass(value, Model)}
    classes = {"Model", *bases, *(model.__name__ for model in REGISTRY.values())}
    asking = []
    for file in PACKAGE.rglob("*.py"):
        if (PACKAGE / "models") in file.parents:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
                named = {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}
                asking += [f"{file.name}:{node.lineno}"] * bool(named & classes)
    assert asking == []
