"""What every command over equivalence classes begins with: roles found in the table, and its sensitive attributes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.spec import KnownRows, NullPolicy, Roles, Sampling
from sqlaudit.base.words import about, spelled
from sqlaudit.classes.facts import Frame, SensitiveTable
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.loading import loaded
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.figures import plural

_HASHED = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP)
MAX_VALUES_READ = 10_000
"""Up to this many sensitive values the table's totals are read into Python."""


@dataclass(frozen=True)
class ResolvedRoles:
    """The roles with their SQL."""

    quasi_identifiers: tuple[Resolved, ...]
    sensitive: tuple[Resolved, ...]
    identifiers: tuple[Resolved, ...]
    entity: Resolved | None
    weights: Resolved | None = None

    @property
    def not_published_as_they_are(self) -> tuple[Resolved, ...]:
        """The roles whose columns are rewritten in a release, or are not in it at all."""
        return (*self.quasi_identifiers, *self.identifiers, *((self.entity,) if self.entity else ()))


def resolve_roles(roles: Roles, relation: Relation, dialect: str) -> ResolvedRoles:
    """Every role's columns found in the relation.

    Raises:
        UsageError: a column that is not there, or two names for one column.
    """
    options = {
        "quasi-identifier": about("qi"),
        "sensitive attribute": about("sensitive"),
        "direct identifier": about("identifier"),
        "entity": about("entity"),
        "sampling weights": about("weights"),
    }
    found = {
        role: tuple(resolve(name, relation, dialect, options[role]) for name in names)
        for role, names in roles.by_role().items()
    }
    repeated = [sql for sql, times in Counter(r.sql for group in found.values() for r in group).items() if times > 1]
    if repeated:
        raise UsageError(f"Column {repeated[0]} is named more than once; give every column one role.")
    entity, weights = (found[role][0] if found[role] else None for role in ("entity", "sampling weights"))
    return ResolvedRoles(
        found["quasi-identifier"], found["sensitive attribute"], found["direct identifier"], entity, weights
    )


def load_columns(engine: Engine, relation: Relation, roles: ResolvedRoles) -> tuple[Relation, ResolvedRoles]:
    """The relation's columns kept for the session when reading them again would parse them again."""
    of_rows = [role for role in (roles.entity, roles.weights) if role is not None]
    relation, found = loaded(engine, relation, [*roles.quasi_identifiers, *roles.sensitive, *of_rows])
    keys, values = len(roles.quasi_identifiers), len(roles.sensitive)
    rest = found[keys + values :]
    return relation, replace(
        roles,
        quasi_identifiers=tuple(found[:keys]),
        sensitive=tuple(found[keys : keys + values]),
        entity=rest[0] if roles.entity else None,
        weights=rest[-1] if roles.weights else None,
    )


def sensitive_table(builder: HistogramBuilder, attribute: Resolved | None) -> tuple[SensitiveTable | None, int]:
    """The sensitive attribute over the whole table (None without one), and how many of its rows are NULL.

    Raises:
        UsageError: rows without an entity, or more values than are read.
    """
    if attribute is None:
        if builder.frame.entity is not None:
            _refuse_missing_entities(builder.shape(None)[3])
        return None, 0
    text = attribute.collated
    found = builder.values(attribute.sql, text, MAX_VALUES_READ + 1)
    if len(found) > MAX_VALUES_READ:
        distinct, _, _, without_entity = builder.shape(attribute.sql)
        _refuse_missing_entities(without_entity)
        raise UsageError(
            f"{attribute.label} has {distinct:,} different values; a sensitive attribute may have at most "
            f"{MAX_VALUES_READ:,}. Round or group it first."
        )
    _refuse_missing_entities(sum(int(row[3]) for row in found))
    values, totals = tuple(row[0] for row in found), tuple(int(row[1]) for row in found)
    nulls = sum(int(row[2]) for row in found)
    table = SensitiveTable(attribute.label, totals, nulls > 0, attribute.kind.has_natural_order, text, values)
    return table, nulls


def frame_of(relation: Relation, roles: ResolvedRoles, attribute: Resolved | None, given: Roles) -> Frame:
    """The relation as the histogram of one sensitive attribute sees it."""
    keys = [q.sql for q in roles.quasi_identifiers]
    if given.joint and attribute is not None:
        keys += [other.sql for other in roles.sensitive if other != attribute]
    entity = roles.entity.sql if roles.entity else None
    hashed = {q.sql for q in (*roles.quasi_identifiers, *roles.sensitive) if q.column and q.kind in _HASHED}
    whole = {q.sql for q in (*roles.quasi_identifiers, *roles.sensitive) if q.column and q.kind is Kind.INTEGER}
    collated = {q.sql for q in (*roles.quasi_identifiers, *roles.sensitive) if q.collated}
    return Frame(
        relation.sql,
        tuple(keys),
        entity,
        given.nulls is NullPolicy.DISTINCT,
        tuple(key in collated for key in keys),
        attribute.sql if attribute else None,
        roles.weights.sql if roles.weights else None,
        tuple(key in hashed for key in keys),
        tuple(key in whole for key in keys),
    )


def key_labels(roles: ResolvedRoles, attribute: Resolved | None, frame: Frame) -> list[str]:
    """What the user calls the columns of the class key, in their order."""
    called = {role.sql: role.label for role in (*roles.quasi_identifiers, *roles.sensitive) if role != attribute}
    return [called[key] for key in frame.keys]


def _refuse_missing_entities(rows: int) -> None:
    if rows:
        raise UsageError(
            f"{plural(rows, 'row has', 'rows have')} no entity, so it is not known whose data that is; leave it out "
            f"with {spelled('where')} (the entity column IS NOT NULL), or fill it."
        )


def shown_roles(roles: Roles) -> dict[str, Any]:
    """The roles as they were given, for results."""
    return {
        "quasi_identifiers": list(roles.quasi_identifiers),
        "sensitive": list(roles.sensitive),
        "identifiers": list(roles.identifiers),
        "entity": roles.entity,
        "joint": roles.joint,
        "nulls": roles.nulls.value,
        **_shown_sampling(roles.sampling),
        **({} if roles.known_rows is KnownRows.WORSE else {"known_rows": roles.known_rows.value}),
    }


def _shown_sampling(sampling: Sampling) -> dict[str, Any]:
    """How the table is a sample, where that was said."""
    fraction = None if sampling.sampling_fraction is None else float(sampling.sampling_fraction)
    said = {"sampling_fraction": fraction, "population_size": sampling.population_size, "weights": sampling.weights}
    return {name: value for name, value in said.items() if value is not None}
