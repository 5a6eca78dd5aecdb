"""The releases of a series as relations: their columns found, of comparable kinds, and copied where needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.spec import Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, spelled
from sqlaudit.classes.loading import loaded
from sqlaudit.engines.contract import Engine
from sqlaudit.release.series.request import SeriesRequest

_EXACT = (Kind.INTEGER, Kind.DECIMAL)
_SMALLEST_IS_KNOWN = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)
"""Kinds of keys of which every engine can say which is the smallest; others are compared as texts."""


@dataclass(frozen=True)
class SeriesSide:
    """One release: its name, where it lies, and its columns in the order of the request."""

    label: str
    relation: Relation
    entity: Resolved
    qi: tuple[Resolved, ...]
    sensitive: tuple[Resolved, ...]

    def parameters(self, attribute: int) -> dict[str, Any]:
        """What templates take of it, for one of the sensitive attributes."""
        return {
            "source": Raw(self.relation.sql),
            "qi": [Raw(one.sql) for one in self.qi],
            "entity": Raw(self.entity.sql),
            "sensitive": Raw(self.sensitive[attribute].sql),
        }


def open_sides(engine: Engine, targets: Sequence[Target], request: SeriesRequest) -> list[SeriesSide]:
    """The releases with the columns of the request found in each.

    Raises:
        UsageError: a column that is not there, two names for one, or kinds of values that cannot be compared.
    """
    sides = [_opened(engine, target, request) for target in targets]
    for place, name in enumerate(request.sensitive):
        _refuse_unlike([side.sensitive[place] for side in sides], sides, "sensitive", name)
    _refuse_unlike([side.entity for side in sides], sides, "entity", request.entity)
    if sides[0].entity.kind not in _SMALLEST_IS_KNOWN:
        sides = [replace(side, entity=_as_text(side.entity)) for side in sides]
    return sides


def copied(engine: Engine, side: SeriesSide, place: int) -> SeriesSide:
    """The columns that matter, copied where every reading would parse text again."""
    roles = [side.entity, *side.qi, *side.sensitive]
    relation, found = loaded(engine, side.relation, roles, f"sqlaudit_series_{place}")
    keys = len(side.qi)
    qi, values = tuple(found[1 : keys + 1]), tuple(found[keys + 1 :])
    return replace(side, relation=relation, entity=found[0], qi=qi, sensitive=values)


def _opened(engine: Engine, target: Target, request: SeriesRequest) -> SeriesSide:
    relation = engine.open(target)
    names = {"entity": (request.entity,), "qi": request.qi, "sensitive": request.sensitive}
    found = [resolve(one, relation, engine.dialect, about(role)) for role, named in names.items() for one in named]
    if len({one.sql for one in found}) < len(found):
        raise UsageError(
            f"A column of {relation.label} is named twice among {spelled('entity')}, {spelled('qi')} and "
            f"{spelled('sensitive')}; give every column one role."
        )
    _refuse_respelled([found[0], *found[len(request.qi) + 1 :]], relation)
    kinds = _kinds(engine, relation, found)
    entity, *rest = [replace(one, kind=kind) for one, kind in zip(found, kinds, strict=True)]
    keys = len(request.qi)
    return SeriesSide(target.name, relation, entity, tuple(rest[:keys]), tuple(rest[keys:]))


def _refuse_respelled(columns: Sequence[Resolved], relation: Relation) -> None:
    """Each release is read with one of several spellings of a value, and another release perhaps with another one.

    Raises:
        UsageError: equal values of a key or sensitive column may be written differently.
    """
    for one in columns:
        if one.column in relation.respelled:
            raise UsageError(
                f"{one.label} of {relation.label} takes texts for equal that are written differently (its collation or "
                "type), so it is not known which of them another release means. Give all releases a view with one "
                "spelling of it, for instance in lower case."
            )


def _kinds(engine: Engine, relation: Relation, roles: Sequence[Resolved]) -> list[Kind]:
    """What columns and expressions hold; only the database knows it of expressions."""
    if all(one.column is not None for one in roles):
        return [one.kind for one in roles]
    statement = render(
        "classes/copy_columns.sql",
        engine.dialect,
        step="kinds of the columns",
        source=Raw(relation.sql),
        columns=[Raw(one.sql) for one in roles],
    )
    return [column.kind for column in engine.result_columns(statement)]


def _refuse_unlike(columns: Sequence[Resolved], sides: Sequence[SeriesSide], role: str, name: str) -> None:
    """A key that is a number here and a text there would find nobody again, and that would look safe.

    Raises:
        UsageError: the kinds differ, and not as whole and decimal numbers do.
    """
    first = columns[0].kind
    for one, side in zip(columns, sides, strict=True):
        if one.kind is not first and not (one.kind in _EXACT and first in _EXACT):
            raise UsageError(
                f"{about(role)}: {name} is of kind {first.value} in {sides[0].label} and of kind {one.kind.value} in "
                f"{side.label}, so it is not known which values are the same. Give it one type in all releases; of "
                f"files, {spelled('all_text', True)} reads every column as text."
            )


def _as_text(role: Resolved) -> Resolved:
    return replace(role, sql="CAST(" + role.sql + " AS VARCHAR)", kind=Kind.TEXT, column=None, type="")
