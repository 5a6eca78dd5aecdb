"""The audit of a release: a check of the whole way from the table over the search to what is published.

When it disagrees with the search, the release is starred instead of thinned out and audited again: there all rows are
left, so that requirements which compare a class with the whole table see the table that the search saw. Only when
classes other than the starred one fall short there, the search and the release disagree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.emit import contradiction, failed, kept
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.columns_of import find_column, resolve
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import AuditSpec, Requirement, Roles, Target
from sqlaudit.base.words import about, spelled
from sqlaudit.classes.inputs import population_target, read_inputs
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.hierarchies.dictionary import held
from sqlaudit.hierarchies.hierarchy import Use
from sqlaudit.lattices.publish import release
from sqlaudit.lattices.release_layout import OpenedForRelease
from sqlaudit.lattices.request import LatticeRequest
from sqlaudit.lattices.result import Checked, LatticeNode, LatticeResult
from sqlaudit.models.registry import REGISTRY
from sqlaudit.models.requirements import parse_requirement

RELEASED = "sqlaudit_released"
"""The name under which a release is kept while it is audited, where an engine can."""
ITS_OWN = (
    "It is measured against the rows that are left; the search, like ARX, measured against all rows, where the "
    "requirement holds."
)


COUNTED = parse_requirement("k=1")
"""What is asked where nothing else can be: it holds, and rows and classes are counted."""


def _starred() -> str:
    return f"The starred rows fall short as a class of their own; {spelled('suppressed', 'drop')} leaves them out."


def levels_of(result: LatticeResult, node: LatticeNode) -> dict[str, int]:
    """The level of each column at a node."""
    return {column.name: level for column, level in zip(result.searched, node.levels, strict=True)}


def audit_release(opened: OpenedForRelease, request: LatticeRequest, result: LatticeResult, *, star: bool) -> Checked:
    """What an audit says of the release, computed from the table in this session.

    Args:
        opened: the table. request: what was searched for. result: what was found. star: star rows, or leave them out.

    Raises:
        EngineError: the audit contradicts the search.
    """
    node = best_of(result)
    found = _audit(opened, request, result, star=star)
    kept = result.rows if star else result.rows - node.failing_rows
    if found.rows != kept:
        raise EngineError(disagree(f"the release has {found.rows:,} rows, not {kept:,}"))
    checked = Checked(
        found.status.value,
        found.rows,
        found.classes.count,
        node.failing_rows,
        tuple(c.text for c in failed(found)),
        _left_to_the_search(request),
    )
    if not checked.failing or not found.rows:
        return checked
    whole = found if star else _audit(opened, request, result, star=True)
    _agree(whole, node)
    note = _starred() if star else ITS_OWN
    return replace(checked, note=f"{note} {checked.note}".rstrip())


def _agree(starred: AuditResult, node: LatticeNode) -> None:
    """Nothing when only the class of starred rows falls short.

    Raises:
        EngineError: another class does.
    """
    for check in failed(starred):
        if not node.failing_rows or check.failing_rows != node.failing_rows or check.failing_classes != 1:
            raise EngineError(disagree(f"{check.text!r} fails in classes that are not suppressed"))


def disagree(what: str) -> str:
    """The sentence of the error that a contradiction is."""
    return contradiction("The release does not agree with the search", what, "search")


def _audit(opened: OpenedForRelease, request: LatticeRequest, result: LatticeResult, *, star: bool) -> AuditResult:
    """An audit of the release in this session."""
    node = best_of(result)
    entity = opened.roles.entity
    made = release(
        opened, levels_of(result, node), suppress=node.failing_rows > 0, star=star, persons=entity is not None
    )
    with kept(opened.engine, RELEASED, made.sql) as relation:
        population = coarsened_population(opened, request, levels_of(result, node))
        auditor = Auditor(opened.engine, failing_classes=0, relation=relation, population=population)
        return auditor.audit(audit_of(request, made.keys, Target(relation=result.target), result.rows))


def audit_of(
    request: LatticeRequest, keys: Sequence[str], target: Target, rows: int, *, alone: bool = False
) -> AuditSpec:
    """The audit of a release of a table of so many rows: the same requirements over its labels, as far as it can decide
    them (`checkable`)."""
    asked = request.roles
    sampling = asked.sampling if asked.entity else asked.sampling.of_release(rows)
    roles = Roles(tuple(keys), asked.sensitive, (), asked.entity, asked.joint, asked.nulls, asked.known_rows, sampling)
    return AuditSpec(target, roles, checkable(request, alone=alone) or (COUNTED,), request.inputs)


def checkable(request: LatticeRequest, *, alone: bool = False) -> tuple[Requirement, ...]:
    """The requirements that an audit of the release can decide: those that need no value from before.

    Args:
        request: what was searched for.
        alone: without those that need a population table, too: only the session of the search has its labels.
    """
    beyond = {"original_qi", *(("population",) if alone else ())}
    return tuple(one for one in request.requirements if not beyond & set(REGISTRY[one.model].needs))


def _left_to_the_search(request: LatticeRequest) -> str:
    """Which requirements no audit of the release can decide, in a sentence."""
    left = ", ".join(one.text for one in request.requirements if one not in checkable(request))
    return f"It speaks of values that the release no longer has, so the search alone decided: {left}." if left else ""


def coarsened_population(
    opened: OpenedForRelease, request: LatticeRequest, levels: Mapping[str, int]
) -> Relation | None:
    """The population table with the labels of a node, if a requirement compares with it.

    Raises:
        UsageError: it lacks a column.
    """
    if not any("population" in REGISTRY[one.model].needs for one in checkable(request)):
        return None
    engine = opened.engine
    there = engine.open(population_target(read_inputs(request.inputs), request.target))
    taking = [place for place, hierarchy in enumerate(opened.hierarchies) if hierarchy.use is not Use.DROP]
    columns = tuple(
        resolve(opened.roles.quasi_identifiers[place].label, there, engine.dialect, about("qi")) for place in taking
    )
    entity = opened.roles.entity
    person = find_column(entity.label, there) if entity else None
    roles = ResolvedRoles(
        columns, (), (), resolve(person.name, there, engine.dialect, about("entity")) if person else None
    )
    people = replace(
        opened,
        relation=there,
        roles=roles,
        attributes=(),
        holds=tuple(held(engine, there, one) for one in columns),
        hierarchies=tuple(opened.hierarchies[place] for place in taking),
    )
    made = release(people, levels, suppress=False, star=False, persons=True)
    return Relation(f"({made.sql})", tuple(engine.result_columns(Statement("population", made.sql))), "the population")


def best_of(result: LatticeResult) -> LatticeNode:
    """The node that is published.

    Raises:
        UsageError: there is none.
    """
    if result.best is None:
        raise UsageError("There is no safe node to publish.")
    return result.best
