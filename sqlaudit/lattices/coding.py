"""The table as coded keys: levels as masks, rows that stay, sensitive attributes, and the histogram of all nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlaudit.audits.models_asked import asked_models
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import OutOfRange, UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import NullPolicy, Requirement, Roles
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.attribute_inputs import inputs_of
from sqlaudit.classes.facts import SensitiveTable
from sqlaudit.classes.histogram import HistogramBuilder, Packing
from sqlaudit.classes.opening import ResolvedRoles, frame_of, sensitive_table
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import keep
from sqlaudit.hierarchies.dictionary import Dictionary
from sqlaudit.lattices.verdicts import Node
from sqlaudit.models.base import Context, Model, expression
from sqlaudit.models.judge import Asked, merged_facts

# Values as path codes: every level of every column is a mask, so that a node of the lattice is GROUP BY (key & mask).
#
# A value's code is its path from the top of the hierarchy down: for each level the number of the label among those
# under the same parent. The bits of all columns' paths lie side by side in as few words as hold them. Clearing the
# bits of the levels below l leaves the label at level l, whatever the hierarchy looked like: no join is needed any
# more.

WORD = 62
"""Bits of a key word: sums of parts never reach the sign of a BIGINT."""


@dataclass(frozen=True)
class KeyColumn:
    """A quasi-identifier that takes part in the lattice.

    Args:
        column: the column or expression in the audited relation.
        dictionary: its values on the workbench with their labels.
        value: what of the dictionary the column holds: `v`, a value, or `id`, its number.
    """

    column: Resolved
    dictionary: Dictionary
    value: str = "v"

    @property
    def height(self) -> int:
        """The highest level, where all values are `*`; 0 when the column is kept as it is."""
        return self.dictionary.hierarchy.height


@dataclass(frozen=True)
class CodePart:
    """The bits of one level of one column: `width` bits from `shift` on in a word."""

    level: int
    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        """Its bits set."""
        return ((1 << self.width) - 1) << self.shift


@dataclass(frozen=True)
class CodedColumn:
    """A column with its place in the key.

    Args:
        label: what the user calls it. height: its highest level, 0 when it is kept.
        parts: the bits of each level, coarsest first. codes: on the workbench, the dictionary with k0, k1, …: what a
            value adds to each key word.
    """

    label: str
    height: int
    parts: tuple[CodePart, ...]
    codes: Relation

    def masks(self, level: int, words: int) -> tuple[int, ...]:
        """The bits that remain at a level, in every word."""
        kept = [part for part in self.parts if part.level >= level]
        return tuple(sum(part.mask for part in kept if part.word == word) for word in range(words))


@dataclass(frozen=True)
class KeyLayout:
    """All columns of a lattice with their places in the words of the key."""

    columns: tuple[CodedColumn, ...]
    words: int

    @property
    def heights(self) -> tuple[int, ...]:
        """The highest level of each column."""
        return tuple(column.height for column in self.columns)

    @property
    def key(self) -> list[str]:
        """The names of the key words."""
        return [f"k{word}" for word in range(self.words)]

    def masks(self, node: Node) -> tuple[int, ...]:
        """Return what a node keeps of every key word."""
        each = [column.masks(level, self.words) for column, level in zip(self.columns, node, strict=True)]
        return tuple(sum(masks[word] for masks in each) for word in range(self.words))

    def check(self, node: Node) -> None:
        """Raise UsageError unless there is such a node; a kept column may be at level 1, left out."""
        if len(node) != len(self.columns):
            raise UsageError(f"A node needs one level for each of the {len(self.columns)} columns, not {len(node)}.")
        for column, level in zip(self.columns, node, strict=True):
            if not 0 <= level <= max(1, column.height):
                raise OutOfRange(f"{column.label} has no level {level}. Its levels are 0 to {column.height}.")


def code_values(workbench: Engine, columns: Sequence[KeyColumn], name: str = "") -> KeyLayout:
    """Path codes for the values of the columns, as relations on the workbench.

    Args:
        workbench: where the dictionaries lie.
        columns: the columns in the order of a node's levels.
        name: tells several codings of one session apart.

    Raises:
        UsageError: a column whose values need more bits than a key word has at one level.
    """
    placed = [_places(workbench, column, f"sqlaudit_places{name}_{i}") for i, column in enumerate(columns)]
    parts = pack([widths for _, widths in placed])
    words = 1 + max((part.word for column in parts for part in column), default=0)
    coded = []
    for i, (column, (places, _)) in enumerate(zip(columns, placed, strict=True)):
        statement = render(
            "lattices/lattice_codes.sql",
            workbench.dialect,
            step="codes of " + column.column.label,
            places=places,
            names=[info.name for info in column.dictionary.relation.columns],
            height=column.height,
            words=[[(part.level, part.shift) for part in parts[i] if part.word == word] for word in range(words)],
        )
        codes = workbench.materialize(f"sqlaudit_codes{name}_{i}", statement)
        workbench.drop(places.label)
        coded.append(CodedColumn(column.column.label, column.height, tuple(parts[i]), codes))
    return KeyLayout(tuple(coded), words)


def _places(workbench: Engine, column: KeyColumn, name: str) -> tuple[Relation, list[int]]:
    """The dictionary with the number of each label under its parent, and the bits that each level needs."""
    levels = max(1, column.height)
    statement = render(
        "lattices/lattice_places.sql",
        workbench.dialect,
        step="places of " + column.column.label,
        source=column.dictionary.relation,
        height=column.height,
    )
    places = workbench.materialize(name, statement)
    statement = render("lattices/lattice_widths.sql", workbench.dialect, source=places, levels=levels)
    (largest,) = workbench.run(statement)
    widths = [int(value or 0).bit_length() for value in largest]
    if max(widths) > WORD:
        raise UsageError(f"{column.column.label} has too many values for a lattice search.")
    return places, widths


def pack(widths: Sequence[Sequence[int]]) -> list[list[CodePart]]:
    """A place for the bits of every level (finest first) of every column.

    A column goes into the first word with room for all of it; one that needs more than a word is spread over several.

    Example:
        >>> [[(part.level, part.word, part.shift) for part in column] for column in pack([[3, 2], [60]])]
        [[(1, 0, 3), (0, 0, 0)], [(0, 1, 0)]]
    """
    used: list[int] = [0]
    placed = []
    for column in widths:
        whole = _first_with_room(used, sum(column)) if sum(column) <= WORD else None
        parts = []
        for level, width in enumerate(column):
            word = _first_with_room(used, width) if whole is None else whole
            parts.append(CodePart(level, word, used[word], width))
            used[word] += width
        placed.append(parts[::-1])
    return placed


def _first_with_room(used: list[int], width: int) -> int:
    """The first word that has so many bits left; a new one when there is none."""
    for word, bits in enumerate(used):
        if bits + width <= WORD:
            return word
    used.append(0)
    return len(used) - 1


# The key of a node over the rows of a table with coded quasi-identifiers, for models that need rows and not counts.


def node_keys(layout: KeyLayout, node: Node, nulls: NullPolicy, joined: Sequence[str] = ()) -> tuple[str, ...]:
    """Expressions of a node's key over coded rows; `joined` are columns that belong to the key as they are.

    With NULLs that are equal, the masked words. With NULLs that are wildcards, one for each column, NULL where its
    label is missing. With NULLs that are distinct, the masked words, and a number of its own for a row in which a label
    is missing.
    """
    open_columns = [
        (position, level, column)
        for position, (column, level) in enumerate(zip(layout.columns, node, strict=True))
        if level < max(1, column.height)
    ]
    if nulls is NullPolicy.WILDCARD:
        labels = (
            expression("unless_missing", position=position, level=level, code=_masked(word, mask))
            for position, level, column in open_columns
            for word, mask in enumerate(column.masks(level, layout.words))
            if mask or word == 0
        )
        return (*labels, *joined)
    keys = [_masked(word, mask) for word, mask in enumerate(layout.masks(node)) if mask]
    if nulls is NullPolicy.DISTINCT and (open_columns or joined):
        places = [(position, level) for position, level, _ in open_columns]
        keys.append(expression("own_number", columns=places, joined=joined))
    return (*keys, *joined)


def _masked(word: int, mask: int) -> str:
    return expression("masked", word=word, mask=mask)


# The sensitive attributes of a lattice search: their lanes in words that add up, and what is required of them.

LANES = 200
"""Up to this many sensitive values a class is one count vector; beyond, classes are counted node by node."""
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
        """Return True if any model looks at sensitive values, and not at sizes alone."""
        models = [item.model for item in self.asked]
        looked_at = self.every_count or bool(merged_facts(models)) or not all(m.facts_tell for m in models)
        return self.table is not None and looked_at

    @property
    def deciding(self) -> list[Asked]:
        """Return what makes a node unsafe: what is required, and not only to be warned of."""
        return [item for item in self.asked if decides(item)]

    @property
    def presence_only(self) -> bool:
        """Return True if it is enough to know which values occur in a class."""
        models = [item.model for item in self.asked]
        only = {fact.macro for fact in merged_facts(models)} <= _OF_PRESENCE
        return only and not self.every_count and all(model.facts_tell for model in models)

    @property
    def packing(self) -> Packing:
        """The lanes' places in words of 62 bits: wide enough for the most frequent value, or one bit for presence."""
        if not self.counted or self.table is None:
            return Packing((), 1, "BIGINT")
        bits = 1 if self.presence_only else max(1, max(self.table.totals, default=1).bit_length())
        per_word = WORD // bits
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
    inputs: Mapping[str, object],
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
        from sqlaudit.population.sample import inputs_with_sampling

        inputs = inputs_with_sampling(inputs, engine, relation, roles, given)
    for position, attribute in enumerate(roles.sensitive or (None,)):
        builder = HistogramBuilder(engine, frame_of(relation, roles, attribute, given), given.nulls, position)
        table, _ = sensitive_table(builder, attribute)
        context = Context(
            table,
            0,
            inputs_of(inputs, attribute.label if attribute else None, table, given.values),
            frozenset(requirement.model for requirement in requirements),
        )
        asked = asked_models(requirements, context, given, attribute, position)
        found.append(Attribute(position, attribute, table, tuple(asked), every_count))
    return found


def decides(item: Asked) -> bool:
    """Return True if a model's verdict makes a node unsafe: it is required, and not only to be warned of."""
    return item.model.is_required and item.requirement.severity != "warn"


def inherited(model: Model, limit_rows: int) -> bool:
    """Return True if coarser nodes inherit a model's verdict under a suppression limit of this number of rows (SPEC:
    section 4)."""
    return model.inherited_with_limit if limit_rows else model.inherited


# One pass over the table: the histogram of coded keys that every node of the lattice is rolled up from.
#
# DuckDB joins the codes while it reads. Any other database counts every combination of values, numbers the values and
# streams numbers and counts to the workbench, where the same statement makes the histogram of them. Spark keeps the
# combinations for a moment, since it would count them again for every column whose values are numbered.

BASE = "sqlaudit_lattice_base"
_CELLS = "sqlaudit_lattice_cells"
_COUNTED = "sqlaudit_lattice_counted"
_NUMBERED = "sqlaudit_lattice_numbered"


def base_histogram(
    engine: Engine,
    workbench: Engine,
    relation: Relation,
    columns: Sequence[KeyColumn],
    layout: KeyLayout,
    attributes: Sequence[Attribute],
) -> Relation:
    """The coded histogram on the workbench: id (always 0), k0 …, n, and the words of the attributes' lanes.

    Args:
        engine: where the table lies. workbench: where the histogram is kept.
        relation: the table. columns: its quasi-identifiers in the order of the layout.
        layout: where each column's codes lie. attributes: the sensitive attributes; those that nothing is asked of
            but sizes have no words.
    """
    counted = [(one, one.table, one.resolved.sql) for one in attributes if one.counted and one.table and one.resolved]
    if workbench is engine:
        source, lane = relation, "s"
        values: list[Raw | Resolved] = [column.column for column in columns]
        lanes = [(Raw(sql), _lanes(engine, relation, one, table, sql)) for one, table, sql in counted]
    else:
        others = [(sql, table.text) for _, table, sql in counted]
        source, lane = _cells(engine, workbench, relation, columns, others), "lane"
        values = [Raw(f"i{i}") for i in range(len(columns))]
        lanes = [
            (Raw(f"i{i}"), Raw(f"(SELECT range AS lane FROM range({table.distinct}))"))
            for i, (_, table, _) in enumerate(counted, len(columns))
        ]
    statement = render(
        "lattices/lattice_base.sql",
        workbench.dialect,
        step="coded histogram",
        source=source,
        words=layout.words,
        columns=[
            {"sql": sql, "codes": place.codes, "value": column.value if workbench is engine else "id"}
            for sql, place, column in zip(values, layout.columns, columns, strict=True)
        ],
        attributes=[
            {
                "position": one.position,
                "words": one.packing.words,
                "aggregate": one.words[0][1] if one.words else "SUM",
                "sql": sql,
                "lanes": listed,
                "value": lane,
            }
            for (one, _, _), (sql, listed) in zip(counted, lanes, strict=True)
        ],
        weight="" if workbench is engine else "c",
    )
    base = workbench.materialize(BASE, statement)
    if workbench is not engine:
        workbench.drop(_CELLS)
    return base


def _cells(
    engine: Engine,
    workbench: Engine,
    relation: Relation,
    columns: Sequence[KeyColumn],
    others: Sequence[tuple[str, bool]],
    entity: Resolved | None = None,
    *,
    nullable: bool = False,
) -> Relation:
    """Numbers of values with their counts, on the workbench.

    Args:
        others: (SQL, is text) of further columns. entity: the last column, if people are numbered, too.
        nullable: whether further columns stay NULL where they are.
    """
    places = [
        {"sql": Raw(column.column.sql), "kind": column.dictionary.holds.kind.value, "nullable": False}
        for column in columns
    ]
    places += [{"sql": Raw(sql), "kind": "", "collated": is_text, "nullable": nullable} for sql, is_text in others]
    places += [{"sql": Raw(entity.sql), "nullable": True, "many": True}] if entity else []
    given: dict[str, Any] = {
        "source": relation,
        "columns": [{"kind": "", "collated": False, "many": False} | place for place in places],
    }
    types = [(f"i{i}", "BIGINT") for i, _ in enumerate(places)] + [("c", "BIGINT")]
    kept = None
    if engine.can_materialize:
        counting = render("lattices/lattice_counted.sql", engine.dialect, step="combinations of values", **given)
        kept = engine.materialize(_COUNTED, counting)
    statement = render("lattices/lattice_cells.sql", engine.dialect, step="coded histogram", kept=kept, **given)
    try:
        return keep(engine, workbench, _CELLS, statement, types)
    finally:
        if kept is not None:
            engine.drop(_COUNTED)


def hand_over_rows(
    engine: Engine,
    workbench: Engine,
    relation: Relation,
    columns: Sequence[KeyColumn],
    attributes: Sequence[Attribute],
    entity: Resolved | None,
) -> tuple[Relation, list[KeyColumn], list[Attribute], Resolved | None]:
    """Put the rows of a table on the workbench, with numbers in the place of all values. Return the relation there, and
    its columns, attributes and entity.

    Args:
        engine: where the table lies. workbench: gets its rows.
        relation: the table. columns: its quasi-identifiers.
        attributes: the sensitive ones. entity: the column that identifies the person.
    """
    others = [(a.resolved.sql, a.table.text) for a in attributes if a.resolved and a.table]
    names = [f"i{i}" for i in range(len(columns) + len(others) + (entity is not None))]
    cells = _cells(engine, workbench, relation, columns, others, entity, nullable=True)
    unfolded = render("lattices/lattice_unfolded.sql", workbench.dialect, step="coded rows", cells=cells, names=names)
    rows = workbench.materialize(_NUMBERED, unfolded)
    workbench.drop(_CELLS)
    left = iter(names)
    numbered = [replace(each, column=replace(each.column, sql=next(left)), value="id") for each in columns]
    coded = [
        replace(a, resolved=replace(a.resolved, sql=next(left)), table=replace(a.table, text=False))
        if a.resolved and a.table
        else a
        for a in attributes
    ]
    return rows, numbered, coded, replace(entity, sql=next(left)) if entity else None


def _lanes(engine: Engine, relation: Relation, attribute: Attribute, table: SensitiveTable, sql: str) -> Raw:
    """The values with their lanes, as a FROM item."""
    statement = render(
        "classes/totals.sql",
        engine.dialect,
        step="sensitive values",
        source=relation,
        sensitive=Raw(sql),
        entity=None,
        text=table.text,
    )
    return Raw(engine.materialize(f"sqlaudit_lattice_lanes_{attribute.position}", statement).sql)
