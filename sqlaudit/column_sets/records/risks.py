"""Individual and household risk: added up in the database, with the threshold that keeps the risk of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about
from sqlaudit.column_sets.coding import Coded
from sqlaudit.column_sets.masks import bits
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.records.result import HouseholdRisk, IndividualRisk, RiskThreshold
from sqlaudit.column_sets.selection import Chosen
from sqlaudit.engines.contract import Engine
from sqlaudit.population.sampling import check_weights, refuse_no_numbers
from sqlaudit.reports.figures import plural

THRESHOLDS = ("0.5", "0.2", "0.1", "0.05", "0.01")


@dataclass(frozen=True)
class RiskSource:
    """Whose risk is told.

    Args:
        engine, relation, chosen: where the rows are, and their quasi-identifiers.
        people: how many people each row stands for. request: how missing values are read, and the wanted global risk.
    """

    engine: Engine
    relation: Relation
    chosen: Sequence[Chosen]
    people: Raw
    request: RecordRequest

    def ask(self, template: str, **more: Any) -> tuple[Any, ...]:
        """The one row that a template tells."""
        statement = render(
            template,
            self.engine.dialect,
            source=Raw(self.relation.sql),
            columns=[Raw(one.sql) for one in self.chosen],
            weight=self.people,
            nulls=self.request.nulls.value,
            thresholds=THRESHOLDS,
            most=self.request.max_global_risk,
            **more,
        )
        return tuple(self.engine.run(statement)[0])


def individual_risk(source: RiskSource, coded: Coded) -> IndividualRisk:
    """The risks of the rows.

    Raises:
        UsageError: the weights of a class add up to fewer people than rows.
    """
    rows, too_light, expected, highest, *more = source.ask(
        "column_sets/records/records_risk.sql",
        names=[f"c{position}" for position in range(len(source.chosen))],
        nullable=[f"c{position}" for position in bits(coded.nullable)],
    )
    if too_light:
        raise UsageError(
            f"In {plural(too_light, 'class', 'classes')} the weights add up to fewer people than rows; "
            "a weight says how many people of the population a row stands for, itself included."
        )
    total, mean = _total(expected, rows)
    threshold = _threshold(source.request.max_global_risk, int(rows), more[len(THRESHOLDS) :])
    return IndividualRisk(total, float(highest or 0), mean, _above(more), threshold)


def household_risk(source: RiskSource, home: Chosen) -> HouseholdRisk:
    """The risks of those who live together.

    Raises:
        UsageError: it is not known of some rows who they live with.
    """
    households, homeless, rows, expected, highest, *more = source.ask(
        "population/household_risk.sql", household=Raw(home.sql)
    )
    if homeless:
        raise UsageError(f"{about('household')}: {home.name} is missing in {int(homeless):,} of {int(rows):,} rows.")
    total, mean = _total(expected, rows)
    threshold = _threshold(source.request.max_global_risk, int(rows), more[len(THRESHOLDS) :], int(households))
    return HouseholdRisk(home.name, int(households), total, float(highest or 0), mean, _above(more), threshold)


def people_of_a_row(request: RecordRequest) -> Raw:
    """How many people each row stands for where no weights say it, with six decimals."""
    return Raw(str(round(float(1 / (request.sampling_fraction or 1)), 6)))


def check_weights_of(engine: Engine, relation: Relation, weight: Chosen) -> None:
    """Look at the weights before anything is made of them.

    Raises:
        UsageError: they are missing, not above 0, or no numbers of people.
    """
    refuse_no_numbers(weight.name, weight.kind)
    statement = render(
        "population/weights.sql",
        engine.dialect,
        step="records_weights",
        source=Raw(relation.sql),
        weight=Raw(weight.sql),
    )
    rows, refused, largest = engine.run(statement)[0]
    check_weights(int(rows), int(refused), None if largest is None else float(largest), weight.name)


def _total(expected: Any, rows: Any) -> tuple[float, float]:
    total = float(expected or 0)
    return total, total / int(rows) if rows else 0.0


def _above(counts: Sequence[Any]) -> dict[str, int]:
    return {threshold: int(count or 0) for threshold, count in zip(THRESHOLDS, counts, strict=False)}


def _threshold(
    most: Fraction | None, rows: int, found: Sequence[Any], households: int | None = None
) -> RiskThreshold | None:
    """What the database says of the threshold; where no risk of the file is low enough, everybody is above it."""
    if most is None:
        return None
    risk, remaining, *above = found
    if risk is None:
        return RiskThreshold(most, None, None, rows, households)
    return RiskThreshold(most, float(risk), float(remaining), *(int(one) for one in above))
