"""For whom a verdict holds that counts persons."""

from __future__ import annotations

from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import Roles
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.opening import ResolvedRoles, frame_of
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.uncovered import persons_with_several


def person_statements(engine: Engine, relation: Relation, roles: ResolvedRoles, given: Roles) -> list[Statement]:
    """The statement that `persons_told` runs; none without an entity."""
    if roles.entity is None:
        return []
    return [HistogramBuilder(engine, frame_of(relation, roles, None, given)).combinations_statement()]


def persons_told(engine: Engine, relation: Relation, roles: ResolvedRoles, given: Roles) -> tuple[Warned, ...]:
    """For whom a verdict holds that counts persons; nothing without an entity."""
    if roles.entity is None:
        return ()
    (statement,) = person_statements(engine, relation, roles, given)
    persons, several = engine.run(statement)[0]
    told = persons_with_several(roles.entity.label, int(persons), int(several))
    return (told,) if told else ()
