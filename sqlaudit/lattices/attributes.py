"""The sensitive attributes of a lattice search: their lanes in words that add up, and what is required of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlaudit.audits.asking import asked_models
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import Requirement, Roles
from sqlaudit.classes.attribute_inputs import inputs_of
from sqlaudit.classes.facts import SensitiveTable
from sqlaudit.classes.histogram import HistogramBuilder, Packing
from sqlaudit.classes.opening import ResolvedRoles, frame_of, sensitive_table
from sqlaudit.classes.persons_spelled import refuse_respelled
from sqlaudit.classes.spellings import merged_lanes, unsure
from sqlaudit.engines.contract import Engine
from sqlaudit.models.base import Context, Model
from sqlaudit.models.judge import Asked, merged_facts
from sqlaudit.models.known_rows import of_values_alone

LANES = 200
"""Up to this many sensitive values a class is one count vector; beyond, classes are counted node by node."""
_WORD = 62
_OF_PRESENCE = {"distinct_values", "presence", "first_place", "last_place", "first_lane", "last_lane"}
"""Facts that only ask which values occur: a bit a value is enough for them."""


@dataclass(frozen=True)
class Attribute:
    """A sensitive attribute (or none: `resolved` is None) with the models that are asked of it.

    Args:
        position: its place among the attributes.
        table: the attribute over the whole table.
        asked: the models, each with the requirement that it stands for.
        every_count: whether all counts are wanted, whatever the models look at.
    """

    position: int
    resolved: Resolved | None
    table: SensitiveTable | None
    asked: tuple[Asked, ...]
    every_count: bool = False

    @property
    def counted(self) -> bool:
        """Whether any model looks at sensitive values, and not at sizes alone."""
        models = [item.model for item in self.asked]
        looked_at = self.every_count or bool(merged_facts(models)) or not all(m.facts_tell for m in models)
        return self.table is not None and looked_at

    @property
    def presence_only(self) -> bool:
        """Whether it is enough to know which values occur in a class."""
        models = [item.model for item in self.asked]
        only = {fact.macro for fact in merged_facts(models)} <= _OF_PRESENCE
        return only and not self.every_count and all(model.facts_tell for model in models)

    @property
    def packing(self) -> Packing:
        """The lanes' places in words of 62 bits: wide enough for the most frequent value, or one bit for presence."""
        if not self.counted or self.table is None:
            return Packing((), 1, "BIGINT")
        bits = 1 if self.presence_only else max(1, max(self.table.totals, default=1).bit_length())
        per_word = _WORD // bits
        lanes = range(self.table.distinct)
        chunks = [lanes[start : start + per_word] for start in range(0, len(lanes), per_word)]
        words = tuple(tuple((lane, place * bits) for place, lane in enumerate(chunk)) for chunk in chunks)
        return Packing(words, bits, "BIGINT")

    @property
    def words(self) -> list[tuple[str, str]]:
        """(name, aggregate) of its words in a histogram of classes."""
        aggregate = "BIT_OR" if self.presence_only else "SUM"
        return [(f"w{self.position}_{word}", aggregate) for word in range(len(self.packing.words))]


def read_attributes(
    engine: Engine,
    relation: Relation,
    roles: ResolvedRoles,
    given: Roles,
    requirements: Sequence[Requirement],
    inputs: Mapping[str, Any],
    *,
    every_count: bool = False,
) -> list[Attribute]:
    """Every sensitive attribute of the roles (or one for none) with its models, made for a search.

    Args:
        engine, relation, roles, given, requirements, inputs: as of `open_evaluator`.
        every_count: whether all counts are wanted, whatever the models look at.

    Raises:
        UsageError: a requirement that does not fit the roles, or an attribute that can't be audited.
    """
    found = []
    if given.sampling.given:
        from sqlaudit.population.sampling import inputs_with_sampling

        inputs = inputs_with_sampling(inputs, engine, relation, roles, given)
    for position, attribute in enumerate(roles.sensitive or (None,)):
        builder = HistogramBuilder(engine, frame_of(relation, roles, attribute, given), given.nulls, position)
        table, _ = sensitive_table(builder, attribute)
        context = Context(
            table,
            0,
            inputs_of(inputs, attribute.label if attribute else None, table),
            frozenset(requirement.model for requirement in requirements),
        )
        asked = asked_models(requirements, context, given, attribute, position)
        _refuse_spellings(attribute, table, asked)
        found.append(Attribute(position, attribute, table, tuple(asked), every_count))
    _refuse_respelled(engine, relation, roles.entity, [item for one in found for item in one.asked if decides(item)])
    return found


def _refuse_respelled(engine: Engine, relation: Relation, entity: Resolved | None, asked: Sequence[Asked]) -> None:
    """What is made safe where persons are counted as they are named may not be safe for who reads the names.

    Raises:
        UsageError: persons are named in several ways, and something is required.
    """
    if asked and entity is not None:
        refuse_respelled(engine, entity.label, [(relation, entity)], asked[0].requirement.text)


def _refuse_spellings(attribute: Resolved | None, table: SensitiveTable | None, asked: Sequence[Asked]) -> None:
    """What is made safe for values as they are written may not be safe for who reads them.

    Raises:
        UsageError: values are spelled in several ways, and something is required of them.
    """
    if attribute is None or table is None:
        return
    of_them = [item for item in asked if decides(item) and of_values_alone(item.model)]
    if of_them and merged_lanes(table):
        raise unsure(attribute.label, of_them[0].requirement.text)


def decides(item: Asked) -> bool:
    """Whether a model's verdict makes a node unsafe: it is required, and not only to be warned of."""
    return item.model.is_required and item.requirement.severity != "warn"


def inherited(model: Model, limit_rows: int) -> bool:
    """Whether coarser nodes inherit a model's verdict under a suppression limit of so many rows (SPEC: section 4)."""
    return model.inherited_with_limit if limit_rows else model.inherited
