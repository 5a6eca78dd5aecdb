"""The analysis of worst-case disclosure: one scan reads the signatures of the classes, from which all else follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlaudit.audits.disclosure.attribute import Disclosure, Failing, find_classes
from sqlaudit.audits.disclosure.request import DisclosureRequest
from sqlaudit.audits.disclosure.results import AttributeResult, DisclosureResult, ShownWitness
from sqlaudit.audits.joined_tables import refuse_joined
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.classes.facts import ClassHistogram, Frame, SensitiveTable
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.opening import OpenedTable, describe_roles, key_labels, open_table, sensitive_table
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.profiles.warnings import audit_warnings, warning_statements
from sqlaudit.reports.document import plural

SHOWN_KEYS = 3
"""Most classes with the same signature that are named when values may be shown."""


@dataclass(frozen=True)
class OpenedAttribute:
    """A sensitive attribute of an open table, with the builder of its histogram."""

    builder: HistogramBuilder
    attribute: Resolved
    table: SensitiveTable
    null_rows: int
    labels: tuple[str, ...]

    @property
    def frame(self) -> Frame:
        """The columns and rows of the histogram."""
        return self.builder.frame

    def with_keys(self) -> ClassHistogram:
        """Return the classes with their keys."""
        return self.builder.build(self.attribute.sql, self.table, keep_keys=True)


def find_disclosure(engine: Engine, request: DisclosureRequest) -> DisclosureResult:
    """Measure the worst-case disclosure of each sensitive attribute.

    Raises:
        UsageError: the roles do not fit the table, or a person has several classes or values.
        EngineError: the database refused or failed.
    """
    executed_before = len(engine.executed)
    table = open_table(engine, request.target, request.roles).copied()
    table.refuse_spelling_conflicts()
    opened = [open_attribute(table, attribute, position) for position, attribute in enumerate(table.roles.sensitive)]
    attributes = tuple(_measure_attribute(part, request) for part in opened)
    sizes = count_class_sizes(attributes[0].disclosure)
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
        **provenance(engine, executed_before),  # last: the warnings run a statement too
    )


def plan_disclosure(engine: Engine, request: DisclosureRequest) -> list[Statement]:
    """Return the statements that are known before any of them has run."""
    table = open_table(engine, request.target, request.roles)
    statements = []
    for attribute in table.roles.sensitive:
        statements += table.histogram_builder(attribute).plan(attribute.sql)
    return statements + warning_statements(engine, table.relation, table.roles)


def open_attribute(opened: OpenedTable, attribute: Resolved, position: int = 0) -> OpenedAttribute:
    """Return one sensitive attribute, ready to be asked about its classes.

    Raises:
        UsageError: a person has several classes or values, or there are more values than are read.
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


def count_class_sizes(disclosure: Disclosure) -> ClassSizes:
    """Return the numbers of classes by size."""
    sizes: Counter[int] = Counter()
    signatures = disclosure.signatures
    for size, classes in zip(signatures.n.tolist(), signatures.multiplicity.tolist(), strict=True):
        sizes[size] += classes
    return ClassSizes(tuple(sorted(sizes.items())))


def _measure_attribute(opened: OpenedAttribute, request: DisclosureRequest) -> AttributeResult:
    """Return the curve of an attribute, its failing and weakest classes, and its witness."""
    histogram = opened.builder.build(opened.attribute.sql, opened.table)
    # with as many pieces of knowledge as there are values, everything is certain
    signatures = histogram.signatures(min(request.knowledge.last, opened.table.distinct))
    disclosure = Disclosure(opened.attribute.label, request.knowledge.last, signatures)
    result = AttributeResult(disclosure, opened.table.distinct, opened.null_rows, histogram.form)
    if not disclosure.points:
        return result
    threshold_k = None if request.threshold is None else disclosure.smallest_k_reaching(request.threshold)
    # classes differ most at the smallest k that reaches the threshold, or at the last before someone is certain
    certain = disclosure.smallest_certain_k
    last = disclosure.knowledge if certain is None else max(0, certain - 1)
    weakest_k = last if threshold_k is None else min(last, threshold_k)
    result = replace(
        result,
        threshold_k=threshold_k,
        failing=_find_failing(disclosure, request),
        weakest_k=weakest_k,
        witness=_find_witness(disclosure, threshold_k, request),
    )
    weakest = disclosure.weakest(weakest_k, request.weakest)
    result = replace(result, weakest=tuple(classes for _, classes in weakest))
    return _look_up_values(opened, result, [position for position, _ in weakest]) if request.show_values else result


def _find_failing(disclosure: Disclosure, request: DisclosureRequest) -> tuple[Failing, ...]:
    """Return, for each k of the report, the classes that reach the threshold. Once all do, all do for larger k."""
    if request.threshold is None:
        return ()
    failing: list[Failing] = []
    for k in range(request.knowledge.first, request.knowledge.last + 1):
        if failing and failing[-1].classes == disclosure.signatures.classes:
            failing.append(replace(failing[-1], k=k))
        else:
            failing.append(disclosure.failing(request.threshold, k))
    return tuple(failing)


def _find_witness(disclosure: Disclosure, threshold_k: int | None, request: DisclosureRequest) -> ShownWitness | None:
    """Return the witness for the requested k, else for the smallest k that reaches the threshold or certainty."""
    if request.witness is None:
        return None
    requested_k = request.witness if isinstance(request.witness, int) else None
    choices = (requested_k, threshold_k, disclosure.smallest_certain_k, disclosure.knowledge)
    witness = disclosure.witness(next(k for k in choices if k is not None))
    signatures = disclosure.signatures
    return ShownWitness(witness, tuple(signatures.signature(position)[0] for position, _ in witness.classes))


def _look_up_values(opened: OpenedAttribute, result: AttributeResult, weakest: Sequence[int]) -> AttributeResult:
    """Return the result with keys and values of the weakest classes, given by position, and of the witness."""
    witness, signatures = result.witness, result.disclosure.signatures
    numbers = Counter(position for position, _ in witness.witness.classes) if witness else Counter()
    for position, classes in zip(weakest, result.weakest, strict=True):
        numbers[position] = max(numbers[position], min(SHOWN_KEYS, classes.classes))
    if not numbers:
        return result
    found_classes = find_classes(opened.with_keys(), signatures, numbers, opened.labels, opened.frame.collated)
    weakest_shown = []
    for position, classes in zip(weakest, result.weakest, strict=True):
        places = found_classes[position][:SHOWN_KEYS]
        values = tuple(each.values[: len(classes.largest)] for each in places)
        weakest_shown.append(replace(classes, keys=tuple(each.key for each in places), values=values))
    if witness is not None:
        places_shown = tuple(found_classes[position][copy] for position, copy in witness.witness.classes)
        witness = replace(witness, places=places_shown)
    return replace(result, weakest=tuple(weakest_shown), witness=witness)
