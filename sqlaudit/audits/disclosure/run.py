"""From a request and an engine to a `DisclosureResult`: one scan for the signatures, everything else follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlaudit.audits.disclosure.attribute import Disclosure, Failing, places_of
from sqlaudit.audits.disclosure.request import DisclosureRequest
from sqlaudit.audits.disclosure.results import AttributeResult, DisclosureResult, ShownWitness
from sqlaudit.audits.joined_tables import refuse_joined
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Roles
from sqlaudit.classes.facts import ClassHistogram, Frame, SensitiveTable
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.opening import OpenedTable, describe_roles, key_labels, open_table, sensitive_table
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.profiles.warnings import audit_warnings, warning_statements
from sqlaudit.reports.document import plural

SHOWN_KEYS = 3
"""Of classes that are alike, so many are named when values may be shown."""


@dataclass(frozen=True)
class OpenedAttribute:
    """A sensitive attribute of an open table: what everything about its classes is asked through."""

    builder: HistogramBuilder
    attribute: Resolved
    table: SensitiveTable
    null_rows: int
    labels: tuple[str, ...]

    @property
    def frame(self) -> Frame:
        """The table as the histogram sees it."""
        return self.builder.frame

    def with_keys(self) -> ClassHistogram:
        """The classes with their keys."""
        return self.builder.build(self.attribute.sql, self.table, keep_keys=True)


def find_disclosure(engine: Engine, request: DisclosureRequest) -> DisclosureResult:
    """Everything the request asks for.

    Raises:
        UsageError: roles that do not fit the table, or persons with several classes or values.
        EngineError: the database refused or failed.
    """
    already = len(engine.executed)
    table = open_table(engine, request.target, request.roles).copied()
    table.refuse_spelling_conflicts()
    opened = [open_attribute(table, attribute, position) for position, attribute in enumerate(table.roles.sensitive)]
    attributes = tuple(_attribute_result(part, request) for part in opened)
    sizes = class_sizes(attributes[0].disclosure)
    published, published_roles = table.published, table.published_roles
    refuse_joined(engine, request.target, published, published_roles, request.roles, sizes)
    first = opened[0]
    rows = sizes.members if first.frame.entity is None else first.builder.shape(first.attribute.sql)[2]
    return DisclosureResult(
        target=request.target.name,
        rows=rows,
        roles=describe_roles(request.roles),
        attributes=attributes,
        threshold=request.threshold,
        first_k=request.knowledge.first,
        warnings=tuple(audit_warnings(engine, published, published_roles, sizes, rows)),
        columns=tuple(column.name for column in published.columns),
        **provenance(engine, already),  # last: the warnings run a statement too
    )


def planned_statements(engine: Engine, relation: Relation, given: Roles) -> list[Statement]:
    """The statements that are known before any of them has run."""
    table = open_table(engine, relation, given)
    statements = []
    for attribute in table.roles.sensitive:
        statements += table.histogram_builder(attribute).plan(attribute.sql)
    return statements + warning_statements(engine, relation, table.roles)


def open_attribute(opened: OpenedTable, attribute: Resolved, position: int = 0) -> OpenedAttribute:
    """Return one sensitive attribute, ready to be asked about its classes.

    Raises:
        UsageError: persons with several classes or values, or more values than are read.
    """
    builder = opened.histogram_builder(attribute, position)
    frame = builder.frame
    table, null_rows = sensitive_table(builder, attribute)
    assert table is not None
    persons = builder.persons_in_several_places(attribute.sql) if frame.entity is not None else 0
    if persons:
        raise UsageError(
            f"Worst-case disclosure needs one group and one value of {attribute.label} for each person, but "
            f"{plural(persons, 'person has', 'people have')} more."
        )
    return OpenedAttribute(builder, attribute, table, null_rows, tuple(key_labels(opened.roles, attribute, frame)))


def class_sizes(disclosure: Disclosure) -> ClassSizes:
    """The classes by size."""
    sizes: Counter[int] = Counter()
    signatures = disclosure.signatures
    for size, classes in zip(signatures.n.tolist(), signatures.multiplicity.tolist(), strict=True):
        sizes[size] += classes
    return ClassSizes(tuple(sorted(sizes.items())))


def _attribute_result(opened: OpenedAttribute, request: DisclosureRequest) -> AttributeResult:
    histogram = opened.builder.build(opened.attribute.sql, opened.table)
    # with as many pieces of knowledge as there are values, all is certain
    signatures = histogram.signatures(min(request.knowledge.last, opened.table.distinct))
    disclosure = Disclosure(opened.attribute.label, request.knowledge.last, signatures)
    result = AttributeResult(disclosure, opened.table.distinct, opened.null_rows, histogram.form)
    if not disclosure.points:
        return result
    threshold_k = None if request.threshold is None else disclosure.smallest_k_reaching(request.threshold)
    # Where classes differ: the smallest k that reaches the threshold, or the last before somebody is certain
    certain = disclosure.smallest_certain_k
    last = disclosure.knowledge if certain is None else max(0, certain - 1)
    weakest_k = last if threshold_k is None else min(last, threshold_k)
    result = replace(
        result,
        threshold_k=threshold_k,
        failing=_failing(disclosure, request),
        weakest_k=weakest_k,
        witness=_witness(disclosure, threshold_k, request),
    )
    weakest = disclosure.weakest(weakest_k, request.weakest)
    result = replace(result, weakest=tuple(classes for _, classes in weakest))
    return _with_values(opened, result, [position for position, _ in weakest]) if request.show_values else result


def _failing(disclosure: Disclosure, request: DisclosureRequest) -> tuple[Failing, ...]:
    """The classes that reach the threshold for every k of the report; from the k on where all do, all do."""
    if request.threshold is None:
        return ()
    found: list[Failing] = []
    for k in range(request.knowledge.first, request.knowledge.last + 1):
        if found and found[-1].classes == disclosure.signatures.classes:
            found.append(replace(found[-1], k=k))
        else:
            found.append(disclosure.failing(request.threshold, k))
    return tuple(found)


def _witness(disclosure: Disclosure, threshold_k: int | None, request: DisclosureRequest) -> ShownWitness | None:
    """The witness for the k asked for; else for the smallest k that reaches the threshold or certainty."""
    if request.witness is None:
        return None
    asked = request.witness if isinstance(request.witness, int) else None
    choices = (asked, threshold_k, disclosure.smallest_certain_k, disclosure.knowledge)
    witness = disclosure.witness(next(k for k in choices if k is not None))
    signatures = disclosure.signatures
    return ShownWitness(witness, tuple(signatures.signature(position)[0] for position, _ in witness.classes))


def _with_values(opened: OpenedAttribute, result: AttributeResult, weakest: Sequence[int]) -> AttributeResult:
    """The weakest classes, by their positions, and those of the witness with keys and values, looked up."""
    witness, signatures = result.witness, result.disclosure.signatures
    wanted = Counter(position for position, _ in witness.witness.classes) if witness else Counter()
    for position, classes in zip(weakest, result.weakest, strict=True):
        wanted[position] = max(wanted[position], min(SHOWN_KEYS, classes.classes))
    if not wanted:
        return result
    found = places_of(opened.with_keys(), signatures, wanted, opened.labels, opened.frame.collated)
    named = []
    for position, classes in zip(weakest, result.weakest, strict=True):
        places = found[position][:SHOWN_KEYS]
        values = tuple(place.values[: len(classes.largest)] for place in places)
        named.append(replace(classes, keys=tuple(place.key for place in places), values=values))
    if witness is not None:
        places_shown = tuple(found[position][copy] for position, copy in witness.witness.classes)
        witness = replace(witness, places=places_shown)
    return replace(result, weakest=tuple(named), witness=witness)
