"""For whom a verdict holds that counts persons: who knows one row of a person, or all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import KnownRows, NullPolicy, Requirement, Roles
from sqlaudit.base.words import spelled
from sqlaudit.classes.facts import Frame
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.opening import ResolvedRoles, frame_of
from sqlaudit.engines.contract import Engine
from sqlaudit.models.judge import Asked
from sqlaudit.models.registry import REGISTRY
from sqlaudit.profiles.uncovered import persons_with_several


@dataclass(frozen=True)
class Combinations:
    """How many persons have more than one combination of the quasi-identifiers: asked once of each key."""

    engine: Engine
    _known: dict[tuple[str, tuple[str, ...]], tuple[int, int]] = field(default_factory=dict)

    def of(self, frame: Frame) -> tuple[int, int]:
        """(persons, those of them with more than one combination)."""
        asked = (frame.source, frame.keys)
        if asked not in self._known:
            persons, several = self.engine.run(HistogramBuilder(self.engine, frame).combinations_statement())[0]
            self._known[asked] = int(persons), int(several)
        return self._known[asked]


def differs(
    frame: Frame, known: KnownRows, nulls: NullPolicy, combinations: Combinations, *, judged: bool = True
) -> bool:
    """Whether somebody who knows all rows of a person is to be judged, and knows more than from one of them.

    Raises:
        UsageError: that cannot be judged, and a verdict is asked for.
    """
    if frame.entity is None or not frame.keys or known is KnownRows.ONE:
        return False
    persons, several = combinations.of(frame)
    if not several or nulls is not NullPolicy.WILDCARD:
        return bool(several)
    if judged or known is KnownRows.ALL:
        raise UsageError(
            f"{several:,} of {persons:,} persons have more than one combination of the quasi-identifiers, and where a "
            "missing value matches any value nobody can be judged who knows all rows of a person: say "
            f"{spelled('known_rows', 'one')}, or {spelled('nulls', 'equal')} or distinct."
        )
    return False


def of_all_rows(asked: Sequence[Asked]) -> list[Asked]:
    """The models whose classes may be those of persons, too: no others are matched with them, as a population is."""
    return [item for item in asked if not item.model.of_persons and "population" not in item.model.needs]


def without_population(asked: Sequence[Asked]) -> list[Asked]:
    """The models that have a meaning where only all rows of a person together are known.

    Raises:
        UsageError: another one is required.
    """
    for item in asked:
        if item.model.is_required and "population" in item.model.needs:
            raise UsageError(
                f"{item.requirement.text!r} compares rows with those of a population, and not all rows of a person: "
                f"say {spelled('known_rows', 'one')}."
            )
    return [item for item in asked if "population" not in item.model.needs]


def person_statements(engine: Engine, relation: Relation, roles: ResolvedRoles, given: Roles) -> list[Statement]:
    """The statement that `persons_told` runs; none without an entity."""
    if roles.entity is None:
        return []
    return [HistogramBuilder(engine, frame_of(relation, roles, None, given)).combinations_statement()]


def planned_of_persons(
    frame: Frame, engine: Engine, given: Roles, requirements: Sequence[Requirement]
) -> list[Statement]:
    """What is asked where persons have several combinations: what all rows of each say, and the classes that makes; and
    what is read to count known events. None without an entity."""
    if frame.entity is None:
        return []
    statements: list[Statement] = []
    if frame.keys and given.known_rows is not KnownRows.ONE and given.nulls is not NullPolicy.WILDCARD:
        from sqlaudit.classes.alike import alike_statement, frame_of_alike

        made = alike_statement(engine, frame)
        known = frame_of_alike(frame, f"({made.sql})")
        statements += [made, *HistogramBuilder(engine, known).plan(known.sensitive)]
    if any(REGISTRY[one.model].of_persons for one in requirements):
        from sqlaudit.events.facts import reading_of

        statements.append(reading_of(engine, frame))
    return statements


def persons_told(
    relation: Relation, roles: ResolvedRoles, given: Roles, combinations: Combinations
) -> tuple[Warned, ...]:
    """For whom a verdict holds that counts persons; nothing without an entity."""
    if roles.entity is None:
        return ()
    persons, several = combinations.of(frame_of(relation, roles, None, given))
    known = KnownRows.ONE if given.nulls is NullPolicy.WILDCARD else given.known_rows
    told = persons_with_several(roles.entity.label, persons, several, known)
    return (told,) if told else ()
