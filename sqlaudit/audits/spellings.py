"""A requirement on sensitive values holds however these are spelled: 'HIV', 'hiv' and 'HIV ' are no diversity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlaudit.audits.part import ClassesWanted, Opened, Part, audit_part
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Requirement
from sqlaudit.classes.opening import ResolvedRoles, frame_of
from sqlaudit.classes.spellings import DIFFER, Merged, alike_statement, merged_lanes, way_out
from sqlaudit.models.check import Check
from sqlaudit.models.known_rows import of_values_alone, worse_of
from sqlaudit.models.phrases import level_text

SPELLED = 250
"""Histograms of values however they are spelled stand so many places behind those of values as they are written."""
AS_WRITTEN = "as_written"
"""The detail of a check that fails however values are spelled: its level as they are written."""
_NO_CLASSES = ClassesWanted(0, 0, values=False)


def with_spellings(part: Part, opened: Opened, attribute: Resolved, position: int) -> Part:
    """The part, in which a requirement fails that holds only because values are spelled in several ways.

    Args:
        part: what was found of values as they are written. attribute: its attribute, which is at this position.
    """
    required = _again(part)
    merged = merged_lanes(part.table) if required and part.table else ()
    if not merged:
        return part
    alike, number = _alike(replace(opened, requirements=required, inputs={}), attribute, part, merged)
    again = audit_part(alike, number, SPELLED + position, _NO_CLASSES).judged.checks
    checks = worse_of(part.judged.checks, again, _spelled)
    texts = dict.fromkeys(new.text for old, new in zip(part.judged.checks, checks, strict=True) if old is not new)
    unnamed = tuple(
        f"{text!r} fails where all spellings of a value are one, of which no class is listed." for text in texts
    )
    judged = replace(part.judged, checks=checks, unnamed=(*part.judged.unnamed, *unnamed))
    return replace(part, judged=judged)


def _again(part: Part) -> tuple[Requirement, ...]:
    """The requirements on values that hold as these are written."""
    held = {check.text for check in part.judged.checks if check.status is Status.PASS}
    return tuple(
        item.requirement for item in part.asked if item.requirement.text in held and of_values_alone(item.model)
    )


def _alike(opened: Opened, attribute: Resolved, part: Part, merged: Merged) -> tuple[Opened, Resolved]:
    """What is audited, and its attribute, with one number for all spellings of a value."""
    assert part.table is not None
    frame = frame_of(opened.relation, opened.roles, attribute, opened.given)
    made = alike_statement(frame, part.table, merged, opened.engine.dialect)
    names = {key: f"q{place}" for place, key in enumerate(frame.keys, 1)}
    number = replace(attribute, sql="s", column=None, type="")

    def renamed(roles: Sequence[Resolved]) -> tuple[Resolved, ...]:
        return tuple(replace(role, sql=names.get(role.sql, role.sql)) for role in roles)

    entity = opened.roles.entity
    roles = ResolvedRoles(
        renamed(opened.roles.quasi_identifiers),
        tuple(number if role == attribute else role for role in renamed(opened.roles.sensitive)),
        (),
        None if entity is None else replace(entity, sql="e"),
    )
    relation = Relation(f"({made.sql})", (), opened.relation.label)
    return replace(opened, relation=relation, roles=roles, population=None), number


def _spelled(written: Check, however: Check) -> Check:
    """The check of a requirement that holds for values as they are written, and not however they are spelled."""
    name = str(written.sensitive)
    note = (
        f"{DIFFER.format(name)}: then it is {level_text(however)}, and {level_text(written)} as they are written. "
        f"{way_out(name)}"
    )
    return replace(
        however, note=note, severity=written.severity, details={**however.details, AS_WRITTEN: written.level}
    )
