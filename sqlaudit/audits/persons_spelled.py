"""A requirement holds however persons are named: 'P1', 'p1' and 'P1 ' are one, and no class of three."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sqlaudit.audits.part import ClassesWanted, Opened, Part
from sqlaudit.audits.persons import Combinations
from sqlaudit.audits.spellings import AS_WRITTEN
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Requirement
from sqlaudit.classes.persons_spelled import as_read, differ, may_be, respelled, way_out
from sqlaudit.models.check import Check
from sqlaudit.models.known_rows import worse_of
from sqlaudit.models.phrases import level_text

NAMED = 1000
"""What is kept of persons however they are named is numbered so many places behind what is of persons as written."""
_NO_CLASSES = ClassesWanted(0, 0, values=False)
Again = Callable[[Opened, Resolved | None, int, ClassesWanted], Part]


def with_persons_spelled(parts: Sequence[Part], opened: Opened, again: Again) -> list[Part]:
    """The parts, in which a requirement fails that holds only because persons are named in several ways.

    Args:
        parts: what was found of persons as they are written, a part for each sensitive attribute.
        again: audits an attribute, at a place of its own.

    Raises:
        UsageError: what is required has no meaning where each person has one name.
    """
    required = [_held(part) for part in parts]
    entity = opened.roles.entity
    if entity is None or not any(required) or not may_be(entity):
        return list(parts)
    number = respelled(opened.engine, entity.label, [(opened.relation.sql, entity.sql)])
    if not number:
        return list(parts)
    attributes: Sequence[Resolved | None] = opened.roles.sensitive or (None,)
    made = []
    for position, (part, attribute, held) in enumerate(zip(parts, attributes, required, strict=True)):
        try:
            found = again(_as_read(opened, held), attribute, position, _NO_CLASSES) if held else None
        except UsageError as refused:
            raise UsageError(f"{differ(entity.label, number)}: {refused} {way_out(entity.label)}") from None
        made.append(part if found is None else _worse(part, found, entity.label, number))
    return made


def _held(part: Part) -> tuple[Requirement, ...]:
    """The requirements that hold; without those that compare persons with a population, which names them otherwise."""
    held = {check.text for check in part.judged.checks if check.status is Status.PASS}
    return tuple(
        item.requirement
        for item in part.asked
        if item.requirement.text in held and "population" not in item.model.needs
    )


def _as_read(opened: Opened, required: tuple[Requirement, ...]) -> Opened:
    """What is audited, with the persons as a reader takes their names."""
    entity = opened.roles.entity
    assert entity is not None
    read = replace(entity, sql=as_read(entity.sql, opened.engine.dialect), kind=Kind.OTHER, column=None, type="")
    return replace(
        opened,
        roles=replace(opened.roles, entity=read),
        requirements=required,
        population=None,
        combinations=Combinations(opened.engine),
        aside=NAMED,
    )


def _worse(part: Part, found: Part, name: str, number: int) -> Part:
    checks = worse_of(part.judged.checks, found.judged.checks, partial(_told, name, number))
    texts = dict.fromkeys(new.text for old, new in zip(part.judged.checks, checks, strict=True) if old is not new)
    unnamed = tuple(f"{text!r} fails where each person has one name, of which no class is listed." for text in texts)
    judged = replace(part.judged, checks=checks, unnamed=(*part.judged.unnamed, *unnamed))
    return replace(part, judged=judged)


def _told(name: str, number: int, written: Check, read: Check) -> Check:
    """The check of a requirement that holds for persons as they are written, and not as a reader takes them."""
    note = (
        f"{differ(name, number)}: where each is one, it is {level_text(read)}, and {level_text(written)} where each "
        f"counts as a person of its own. {way_out(name)}"
    )
    return replace(read, note=note, severity=written.severity, details={**read.details, AS_WRITTEN: written.level})
