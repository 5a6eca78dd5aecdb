"""What is asked of the classes of every node, as SQL over count vectors: the models' own facts and predicates.

A requirement becomes a check: a predicate that is true for a class that falls short. Most models say it themselves.
Where one is judged in Python by combinations of facts, or decided exactly at its limit, the few combinations that occur
are judged once for all nodes and become a predicate, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlaudit.base.relation import Statement
from sqlaudit.base.sql import Raw, environment, render
from sqlaudit.classes.facts import Fact
from sqlaudit.lattices.attributes import Attribute, decides
from sqlaudit.models.base import Model, expression
from sqlaudit.models.judge import Asked, merged_facts

DIALECT = "duckdb"
GROUPED = "sqlaudit_grouped"
"""Stands for the FROM item of the classes in prepared statements."""
_NARROW = 2**62


@dataclass(frozen=True)
class ClassCheck:
    """A requirement over classes.

    Args:
        name: of its verdict in SQL. item: the requirement. sensitive: the attribute it speaks of, for reports.
        failing: SQL over facts, true for a class that falls short. doubtful: true where floats cannot tell.
    """

    name: str
    item: Asked
    failing: str
    doubtful: str = ""

    @property
    def model(self) -> Model:
        """The model that is required."""
        return self.item.model


@dataclass(frozen=True)
class AttributeBlock:
    """One sensitive attribute (or none) in a statement over classes: lanes, facts and checks."""

    attribute: Attribute
    facts: tuple[Fact, ...]
    checks: tuple[ClassCheck, ...]

    @property
    def position(self) -> int:
        """The attribute's place."""
        return self.attribute.position

    def words(self) -> list[str]:
        """The names of its words."""
        return [name for name, _ in self.attribute.words]

    def shown(self, wide: str) -> dict[str, Any]:
        """The block as the templates read it."""
        packing = self.attribute.packing
        names = self.words()
        lanes = [
            (f"c{lane}", name, shift) for name, word in zip(names, packing.words, strict=True) for lane, shift in word
        ]
        return {
            "position": self.position,
            "words": names,
            "lanes": lanes,
            "mask": 2**packing.bits - 1,
            "facts": [(fact.name, _expression(fact, self.attribute, wide)) for fact in self.facts],
            "checks": [{"name": c.name, "failing": c.failing, "doubtful": c.doubtful} for c in self.checks],
        }

    def with_checks(self, checks: Mapping[str, ClassCheck]) -> AttributeBlock:
        """The same with other predicates."""
        return replace(self, checks=tuple(checks.get(check.name, check) for check in self.checks))


def blocks_of(attributes: Sequence[Attribute]) -> list[AttributeBlock]:
    """The blocks of all attributes with the requirements that decide by classes; never empty."""
    found = []
    number = 0
    for attribute in attributes:
        checks: list[ClassCheck] = []
        models: list[Model] = []
        for item in attribute.asked:
            if not decides(item) or item.model.verdict_by_level:
                continue
            models.append(item.model)
            if item.model.by_signatures:
                continue
            failing = expression("never") if item.model.by_combinations else item.model.failing()
            checks.append(ClassCheck(f"r{number}", item, failing, item.model.doubtful()))
            number += 1
        found.append(AttributeBlock(attribute, tuple(merged_facts(models)), tuple(checks)))
    return found


def wide_type(attributes: Sequence[Attribute], rows: int) -> str:
    """The narrowest type that holds the products of counts and limits: a plain integer unless the table is large."""
    limits = [
        value
        for attribute in attributes
        for item in attribute.asked
        for value in item.model.values.values()
        if isinstance(value, Fraction)
    ]
    factor = max((limit.denominator + abs(limit.numerator) for limit in limits), default=1)
    lanes = max((attribute.table.distinct for attribute in attributes if attribute.table), default=1)
    height = max((item.model.unit() for attribute in attributes for item in attribute.asked), default=1)
    return "BIGINT" if 8 * (rows + 1) ** 2 * factor * (lanes + height + 64) < _NARROW else "HUGEINT"


def prepared(template: str, step: str, **parameters: Any) -> Statement:
    """A statement over `GROUPED`, to be placed over the classes of any nodes."""
    return render(template, DIALECT, step=step, grouped=Raw(GROUPED), **parameters)


def placed(statement: Statement, grouped: str) -> Statement:
    """A prepared statement over these classes."""
    return replace(statement, sql=statement.sql.replace(GROUPED, grouped))


def _expression(fact: Fact, attribute: Attribute, wide: str) -> str:
    """A fact over the lanes of a count vector."""
    totals = attribute.table.totals if attribute.table else ()
    context = {
        "lane_totals": totals,
        "form": "packed",
        "wide": wide,
        "dialect": DIALECT,
        "total": attribute.table.total if attribute.table else 0,
    }
    macros = environment().get_template("classes/_facts.sql").make_module(context)
    return str(getattr(macros, fact.macro)(**fact.arguments)).strip()
