"""The warnings of an audit: columns that identify people, and what a verdict does not cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from sqlaudit.base.columns_of import Resolved, columns_read, resolve
from sqlaudit.base.errors import ConflictingRoles
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote, shown, spoken, typed
from sqlaudit.base.options import written
from sqlaudit.base.parameter_names import about, command, spelled
from sqlaudit.base.relation import NUMBERS, ColumnInfo, Kind, Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import KnownRows
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.columns import (
    NOT_READABLE,
    Source,
    as_source,
    estimated_distinct,
    is_nested,
    propose,
    query_values,
    read_facts,
    values_statement,
)
from sqlaudit.profiles.names import concept_of, count_table_statements, find_count_table, published_table_warning
from sqlaudit.profiles.result import NEARLY, ColumnFacts, Role, looks_like
from sqlaudit.reports.document import listed, listing

if TYPE_CHECKING:
    from sqlglot import exp


# Equal values with several spellings: they count as one, but readers of the text can distinguish them.

_ADVICE = (
    "They count as one value, but readers of the text can distinguish them. Use one spelling before publication, or "
    "audit the texts (sqlaudit help equality)."
)


@dataclass(frozen=True)
class _ComparedColumn:
    """A column whose spellings are compared.

    Args:
        label, sql: the column or expression.
        source: the SQL of the table that has the spellings.
        type: the type that a text file's number is read as, empty for other columns.
        meant: whether texts that mean the same number or date are compared, instead of values that are equal.
    """

    label: str
    sql: str
    source: str
    type: str = ""
    meant: bool = False


def equal_text_statement(
    engine: Engine, relation: Relation, roles: Sequence[Resolved], sensitive: Sequence[Resolved] = (), first: int = 0
) -> list[Statement]:
    """Return the statement that counts equal values with several spellings, none if no column can have any.

    Args:
        roles: the columns in which values may be equal.
        sensitive: columns in which texts may also mean the same.
        first: the number of rows to read, the first ones; 0 for all.
    """
    columns = [
        {"sql": Raw(column.sql), "source": Raw(column.source), "type": column.type, "meant": column.meant}
        for column in _compared_columns(engine, relation, roles, sensitive)
    ]
    return [render("profiles/equal_texts.sql", engine.dialect, columns=columns, first=first)] if columns else []


def equal_text_warnings(engine: Engine, relation: Relation, roles: ResolvedRoles, first: int) -> list[Warned]:
    """Return the warnings `equal_but_written_differently`, one per column, from the `first` rows."""
    keys, values = roles.quasi_identifiers, roles.sensitive
    counts = {
        int(column): int(count)
        for statement in equal_text_statement(engine, relation, keys, values, first)
        for column, count in engine.run(statement)
    }
    warnings = [
        _spelling_warning(column.label, _describe_spellings(column, counts[i]))
        for i, column in enumerate(_compared_columns(engine, relation, keys, values))
        if counts.get(i)
    ]
    by_type = " has a collation or type that treats different spellings as equal (such as A and a). "
    respelled = (role.label for role in (*keys, *values) if role.column in relation.respelled)
    return [*warnings, *(_spelling_warning(label, by_type + _ADVICE) for label in respelled)]


def _spelling_warning(label: str, explanation: str) -> Warned:
    return Warned("equal_but_written_differently", (label,), label + explanation)


def _compared_columns(
    engine: Engine, relation: Relation, roles: Sequence[Resolved], sensitive: Sequence[Resolved]
) -> list[_ComparedColumn]:
    """Return the columns that may have equal values with several spellings."""
    columns = []
    for role in (*roles, *sensitive):
        if role.column is not None and relation.written and role.kind in NUMBERS:
            columns.append(_ComparedColumn(role.label, quote(role.column, engine.dialect), relation.written, role.type))
        elif _can_have_spellings(role, relation, engine.dialect):
            columns.append(_ComparedColumn(role.label, role.sql, relation.sql))
    texts = [role for role in sensitive if role.kind is Kind.TEXT and role.type.lower() != "uuid"]
    return [*columns, *(_ComparedColumn(role.label, role.sql, relation.sql, meant=True) for role in texts)]


def _can_have_spellings(role: Resolved, relation: Relation, dialect: str) -> bool:
    """True if values of this type can be equal and have several texts; False if an expression's type is unknown."""
    if not role.type or role.column in relation.respelled:
        return False
    if role.kind is Kind.DECIMAL:
        return spoken(dialect).loose_decimals and "(" not in role.type
    if role.kind is Kind.OTHER:
        return not role.type.lower().startswith(NOT_READABLE)
    return role.kind is Kind.FLOAT or (role.kind is Kind.TEXT and "COLLATE" in role.type.upper())


def _describe_spellings(column: _ComparedColumn, count: int) -> str:
    """Return the rest of the sentence about a column with `count` values that have several spellings."""
    if column.meant:
        explanation = (
            "mean the same (such as 01 and 1, 1,5 and 1.5, or 2020-1-1 and 2020-01-01). Each spelling counts as a "
            "different value. Use one spelling."
        )
    else:
        explanation = f"are equal in the database (such as 1.0 and 1.00, or -0 and 0). {_ADVICE}"
    return f": {'1 value has' if count == 1 else f'{count:,} values have'} several spellings that {explanation}"


# The limits of a verdict, in sentences with column names and counts: columns without a role, unreadable columns,
# quasi-identifiers without a value, and people with several rows. These functions run no SQL.

MANY = 0.1
"""The share of unique rows from which on a column singles out many rows."""
FEW_ROWS = 10
"""In fewer rows than this, many unique ones are normal."""


def _warn_about_roleless(names: Sequence[str]) -> Iterator[Warned]:
    """Warn that columns without a role are not checked."""
    if names:
        pronoun = _pronoun(names)
        text = f"Not checked: {_plural_columns(names)} without a role ({listed(names)}). "
        text += f"The result assumes that others do not know {pronoun} and may learn {pronoun}."
        hint = f"If not, name {pronoun} with {spelled('qi')} or {spelled('sensitive')}."
        yield Warned("columns_without_role", tuple(names), f"{text} {hint}", hint)


def _warn_about_expressions(relation: Relation, roles: ResolvedRoles, dialect: str) -> Iterator[Warned]:
    """Warn that a verdict is about expressions, not about the columns that only these expressions read."""
    expressions = [role for role in (*roles.quasi_identifiers, *roles.sensitive) if role.column is None]
    role_columns = {role.column for role in _all_roles(roles)}
    read = {role.label: sorted(columns_read(role, relation, dialect) - role_columns) for role in expressions}
    labels = [label for label, names in read.items() if names]
    columns = tuple(dict.fromkeys(name for names in read.values() for name in names))
    if columns:
        text = f"{listed(labels)} {'replaces' if len(labels) == 1 else 'replace'} {listed(columns)} in this audit. "
        text += f"The verdict applies to a table that has {_pronoun(labels)} instead."
        yield Warned("read_by_expressions", columns, text)


def _warn_about_possible_quasi_identifiers(
    seen: Sequence[ColumnFacts], unseen: Sequence[ColumnInfo], where: str
) -> Iterator[Warned]:
    """Warn about columns without a role that look like quasi-identifiers or that single out many rows.

    Args:
        seen: the columns whose values were read.
        unseen: the other columns, which are judged by name and label only.
        where: the rows that were read, as a phrase; empty for all.
    """
    proposals = {facts.name: propose(facts) for facts in seen}
    similar = [
        name
        for name, proposal in proposals.items()
        if proposal.role is Role.QUASI_IDENTIFIER and not proposal.is_undecided
    ]
    concepts = {column.name: concept_of(column.name, column.label) for column in unseen}
    similar += [name for name, concept in concepts.items() if concept and concept.role is Role.QUASI_IDENTIFIER]
    rare = [  # direct identifiers have a warning of their own
        facts
        for facts in seen
        if facts.name not in similar and proposals[facts.name].role is not Role.DIRECT_IDENTIFIER
        if proposals[facts.name].is_undecided or _singles_out_many(facts)
    ]
    findings = []
    if similar:
        findings.append(f"{listed(similar)} {looks_like('quasi-identifier', similar)}")
    if rare:
        verb, many = "singles" if len(rare) == 1 else "single", "many " * all(map(_singles_out_many, rare))
        shares = [
            f"{written(facts.name)} ({facts.unique_rows or 0:,} of {facts.examined_rows:,} rows are unique)"
            for facts in rare
        ]
        findings.append(f"{listing(shares)} {verb} out {many}rows{where}")
    if findings:
        names = (*similar, *(facts.name for facts in rare))
        hint = f"Name {_pronoun(names)} with {spelled('qi')} if others may know {_pronoun(names)}."
        yield Warned("possible_quasi_identifier", names, f"Without a role: {'; '.join(findings)}. {hint}", hint)


def _singles_out_many(facts: ColumnFacts) -> bool:
    """Return True if many of the rows read have a value that no other one has."""
    return facts.examined_rows >= FEW_ROWS and (facts.unique_rows or 0) >= MANY * facts.examined_rows


def _warn_about_empty(seen: Sequence[ColumnFacts], where: str) -> Iterator[Warned]:
    """Warn about quasi-identifiers without any value: they separate no groups, and may be empty by mistake."""
    names = tuple(facts.name for facts in seen if facts.examined_rows and not facts.filled)
    if names:
        verb, separate = ("is", "separates") if len(names) == 1 else ("are", "separate")
        text = f"{listed(names)} {verb} all NULL{where} and {separate} no groups. "
        yield Warned("empty_quasi_identifier", names, f"{text}Is this the right table?")


def _warn_about_unreadable(names: Sequence[str]) -> Iterator[Warned]:
    """Warn about columns that the database role cannot read."""
    if names:
        text = f"Not checked: {_plural_columns(names)} that this database role cannot read ({listed(names)})."
        yield Warned("unreadable_columns", tuple(names), text)


_COVERED_ATTACKERS = {
    KnownRows.WORSE: "one row of a person and attackers who know all of them; the worse result counts",
    KnownRows.ONE: "one row of a person, not those who know several",
    KnownRows.ALL: "all rows of a person, not those who know only some",
}


def warn_about_several_rows(entity: str, persons: int, several: int, known_rows: KnownRows) -> Warned | None:
    """Return the notice about the attackers that a verdict on people covers, None if there are no people.

    Args:
        entity: the column that identifies the person.
        persons: the number of people.
        several: the number of people with more than one combination of the quasi-identifiers.
        known_rows: the rows of a person that an attacker knows.
    """
    if not persons:
        return None
    text = f"People are counted by {entity}. "
    if not several:
        text += "Each has one combination of the quasi-identifiers, so it makes no difference "
        return Warned("one_combination", (entity,), f"{text}how many rows of a person an attacker knows.")
    text += f"{several:,} of {persons:,} {'has' if several == 1 else 'have'} more than one combination of the "
    text += f"quasi-identifiers. The verdict covers attackers who know {_COVERED_ATTACKERS[known_rows]}."
    return Warned("several_combinations", (entity,), text)


def _plural_columns(names: Sequence[str]) -> str:
    return "1 column" if len(names) == 1 else f"{len(names):,} columns"


def _pronoun(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _all_roles(roles: ResolvedRoles) -> tuple[Resolved, ...]:
    entity = (roles.entity,) if roles.entity else ()
    return (*roles.quasi_identifiers, *roles.sensitive, *roles.identifiers, *entity)


def source_of(column: ColumnInfo, dialect: str) -> Source | None:
    """Return the column as a source of facts; None for bytes, by which not every engine can group."""
    readable = column.kind is not Kind.OTHER or is_nested(column.kind, column.type)
    return as_source(column, dialect) if readable else None


# Warnings about the published columns, from one cheap statement over the first rows.

FIRST_ROWS = 20_000
"""Rows that are read: enough to see how a column is spelled, at little cost compared to the audit of a large table."""
PSEUDONYMS = ("record_id", "uuid")
"""Concepts that the column of people may have without a warning: they distinguish people but do not reveal who they
are."""
MOST_OTHERS = 20
"""Number of columns of text, and of other columns, without a role whose values are read; of the rest only the names."""


@dataclass(frozen=True)
class _ReadColumn:
    """A column with what its first rows show.

    Args:
        facts: its figures in the rows read.
        once: the number of values that occur once in them.
        is_key: whether it is a quasi-identifier.
        roleless: whether it has no role.
        of_persons: whether it identifies the person of a row.
    """

    facts: ColumnFacts
    once: int
    is_key: bool
    roleless: bool
    of_persons: bool


def audit_warnings(
    engine: Engine,
    relation: Relation,
    roles: ResolvedRoles,
    classes: ClassSizes | None = None,
    rows: int | None = None,
    insensitive: Sequence[str] = (),
) -> list[Warned]:
    """Return the warnings of an audit.

    Codes: `direct_identifier`, `possible_direct_identifier`, `identifier_in_text`, `all_different_column`,
    `division_of_whole_numbers`, `header_guessed`, `dates_guessed`, `hidden_rows`, `hidden_sheets`, `blank_rows`,
    `selected_rows`,
    `possible_quasi_identifier`, `unreadable_columns`, `empty_quasi_identifier`, `read_by_expressions`,
    `columns_without_role`, `nearly_unique_quasi_identifier`, `float_quasi_identifier`, `spelling_variants`,
    `equal_but_written_differently`, `published_table`.
    Messages hold counts, names and expressions of columns.

    Args:
        engine, relation: where the published table is.
        roles: the roles of its columns.
        classes: the sizes of the equivalence classes, None if unknown: fewer classes than `NEARLY` times the rows prove
            that no quasi-identifier is nearly unique.
        rows: rows of the table; None if unknown, then the rows read stand for it.
        insensitive: columns that were reviewed and need no role.
    """
    roleless = roleless_columns(relation, roles, engine.dialect, insensitive)
    seen = _read_columns(engine, relation, roles, roleless)
    looked_at = max((column.facts.examined_rows for column in seen), default=0)
    total = max(rows or 0, looked_at)
    where = f" (in the first {looked_at:,} rows)" if total > looked_at else ""
    seen_names = {column.facts.name for column in seen}
    keys = [column for column in seen if column.is_key]
    # a column has no more values than there are classes
    can_be_unique = classes is None or classes.per_row or classes.count >= NEARLY * classes.members
    spellings = equal_text_warnings(engine, relation, roles, FIRST_ROWS)
    cells = find_count_table(engine, relation, rows)
    return [
        *_warn_about_declared_identifiers(roles.identifiers),
        *_warn_about_likely_identifiers(seen, relation, roles, where),
        *_warn_about_mentions([column.facts for column in seen if not is_identifying(column.facts)], where),
        *_warn_about_record_numbers([column.facts for column in seen if column.roleless], where),
        *_warn_about_divisions(engine, relation, roles),
        *(Warned(remark.code, (), remark.text) for remark in relation.remarks),
        *_warn_about_possible_quasi_identifiers(
            [column.facts for column in seen if column.roleless],
            [column for column in relation.columns if column.name in {*roleless} - seen_names],
            where,
        ),
        *_warn_about_unreadable([name for name in relation.unreadable if name not in insensitive]),
        *_warn_about_empty([column.facts for column in keys], where),
        *_warn_about_expressions(relation, roles, engine.dialect),
        *_warn_about_roleless(roleless),
        *(warned for column in keys if can_be_unique for warned in _warn_about_nearly_unique(column, total)),
        *(warned for column in keys for warned in _warn_about_floats(column.facts)),
        *(warned for column in keys for warned in _warn_about_variants(column.facts, where)),
        *spellings,
        *([published_table_warning(cells)] if cells else []),
    ]


def warning_statements(engine: Engine, relation: Relation, roles: ResolvedRoles) -> list[Statement]:
    """Return the statements that `audit_warnings` runs: one for the columns, one for spellings, one for cells."""
    keys, values = roles.quasi_identifiers, roles.sensitive
    sources = _sources(relation, roles, engine.dialect)
    return [
        *([values_statement(engine, relation, sources, first=FIRST_ROWS, step="warnings")] if sources else []),
        *equal_text_statement(engine, relation, keys, values, FIRST_ROWS),
        *count_table_statements(engine, relation),
    ]


def roleless_columns(
    relation: Relation, roles: ResolvedRoles, dialect: str, insensitive: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the columns that no role reads, and that are not declared insensitive.

    Raises:
        UsageError: an insensitive column does not exist or has a role.
    """
    read = {column for role in _all_roles(roles) for column in columns_read(role, relation, dialect)}
    for name in (name for name in insensitive if name not in relation.unreadable):
        column = resolve(name, relation, dialect, about("insensitive")).column
        if column is None or column in read:
            reason = "is an expression" if column is None else "has a role already"
            raise ConflictingRoles(f"{about('insensitive')}: {shown(name)} {reason}. Name columns that need no role.")
        read.add(column)
    return tuple(column.name for column in relation.columns if column.name not in read)


def _read_columns(
    engine: Engine, relation: Relation, roles: ResolvedRoles, roleless: Sequence[str]
) -> list[_ReadColumn]:
    """Return the columns of `_sources` with the facts of their first rows."""
    sources = _sources(relation, roles, engine.dialect)
    rows = query_values(engine, relation, sources, first=FIRST_ROWS, step="warnings") if sources else {}
    keys, with_role = len(roles.quasi_identifiers), len(roles.quasi_identifiers) + len(roles.sensitive)
    return [
        _ReadColumn(
            read_facts(source, rows.get(i)),
            int(rows[i][7]) if i in rows else 0,
            i < keys,
            i >= with_role and source.name in roleless,
            roles.entity is not None and source is sources[-1] and source.name == roles.entity.label,
        )
        for i, source in enumerate(sources)
    ]


def _sources(relation: Relation, roles: ResolvedRoles, dialect: str) -> list[Source]:
    """Return the columns to read: quasi-identifiers, sensitive attributes, columns without a role, the person's column.

    Columns without a role are read because they are published, too.
    """
    role_columns = {role.column for role in _all_roles(roles)}
    sources = (source_of(column, dialect) for column in relation.columns if column.name not in role_columns)
    others = [column for column in sources if column is not None]
    texts = [source for source in others if source.kind is Kind.TEXT]
    figures = [source for source in others if source.kind is not Kind.TEXT]
    looked_at = {source.name for source in (*texts[:MOST_OTHERS], *figures[:MOST_OTHERS])}
    chosen = [source for source in others if source.name in looked_at]
    persons = [roles.entity] if roles.entity is not None and roles.entity.kind is Kind.TEXT else []

    def source(role: Resolved) -> Source:
        return Source(role.label, role.sql, role.kind, label=role.variable_label)

    with_role = map(source, (*roles.quasi_identifiers, *roles.sensitive))
    return [*with_role, *chosen, *map(source, persons)]


def _warn_about_divisions(engine: Engine, relation: Relation, roles: ResolvedRoles) -> Iterator[Warned]:
    """Warn about expressions that divide whole numbers, which engines compute differently."""
    for role in _all_roles(roles):
        if role.column:
            continue
        from sqlaudit.base.guard import DIVISION, remark_on_text

        remark = remark_on_text(role.sql, relation.columns, engine.dialect, role.label)
        if remark:
            yield Warned(DIVISION, (role.label,), remark)


def _warn_about_declared_identifiers(identifiers: Sequence[Resolved]) -> Iterator[Warned]:
    """Warn that declared direct identifiers are in the table."""
    names = tuple(role.label for role in identifiers)
    if names:
        verb = "is a direct identifier" if len(names) == 1 else "are direct identifiers"
        text = f"{listed(names)} {verb} in the table. Leave {_pronoun(names)} out: "
        text += f"{'it identifies' if len(names) == 1 else 'they identify'} people without any quasi-identifier."
        yield Warned("direct_identifier", names, text)


def _warn_about_likely_identifiers(
    seen: Sequence[_ReadColumn], relation: Relation, roles: ResolvedRoles, where: str
) -> Iterator[Warned]:
    """Warn about columns that look like direct identifiers, by texts or name, but are not declared."""
    names = [
        column.facts.name
        for column in seen
        if is_identifying(column.facts) and not (column.of_persons and propose(column.facts).concept in PSEUDONYMS)
    ]
    entity = roles.entity.column if roles.entity is not None else None
    covered = ({role.column for role in _all_roles(roles)} - {entity}) | {column.facts.name for column in seen}
    for column in relation.columns:
        concept = concept_of(column.name, column.label) if column.name not in covered else None
        identifying = concept is not None and concept.role is Role.DIRECT_IDENTIFIER
        pseudonym = column.name == entity and concept is not None and concept.name in PSEUDONYMS
        if identifying and not pseudonym and column.kind in (Kind.INTEGER, Kind.TEXT):
            names.append(column.name)
    if names:
        hint = f"{command('profile')} gives the reasons."
        text = f"{listed(names)} {looks_like('direct identifier', names)}{where}. Anyone named in a row can be "
        text += f"identified, whatever the group size. {hint}"
        yield Warned("possible_direct_identifier", tuple(names), text, hint)


def is_identifying(facts: ColumnFacts) -> bool:
    """True if a column looks like a direct identifier by its name or its values."""
    proposal = propose(facts)
    return proposal.role is Role.DIRECT_IDENTIFIER and proposal.concept is not None


def _warn_about_mentions(seen: Sequence[ColumnFacts], where: str) -> Iterator[Warned]:
    """Warn about texts, lists, structures and JSON that contain identifiers of people among other contents."""
    for facts in seen:
        if mentions := facts.mentioned:
            text = f"{written(facts.name)}: {listing(mentions)}{where}. "
            text += "Anyone named there can be identified, whatever the group size."
            yield Warned("identifier_in_text", (facts.name,), text)


def _warn_about_record_numbers(seen: Sequence[ColumnFacts], where: str) -> Iterator[Warned]:
    """Warn about columns without a role that have a different value in almost every row, like record numbers."""
    proposed = {facts.name: propose(facts) for facts in seen}
    names = tuple(
        name
        for name, proposal in proposed.items()
        if proposal.role is Role.DIRECT_IDENTIFIER and proposal.concept is None
    )
    if names:
        verb, number = ("has", "a record number") if len(names) == 1 else ("have", "record numbers")
        hint = f"Leave {_pronoun(names)} out, or name {_pronoun(names)} with {spelled('insensitive')} after a check."
        text = f"Without a role: {listed(names)} {verb} a different value in almost every row{where}, like {number}."
        yield Warned("all_different_column", names, f"{text} {hint}", hint)


def _warn_about_nearly_unique(column: _ReadColumn, total: int) -> Iterator[Warned]:
    """Warn if the column is nearly unique in the `total` rows of the table, estimated from the rows read."""
    facts = column.facts
    rows, distinct, about = facts.filled, facts.distinct, ""
    if total > facts.examined_rows > 0:
        rows = round(total * facts.filled / facts.examined_rows)
        distinct, about = estimated_distinct(facts.distinct, column.once, facts.filled, rows), "about "
    if facts.nearly_unique and distinct >= NEARLY * rows:
        text = (
            f"{written(facts.name)} has {about}{distinct:,} different values in {about}{rows:,} rows with a value. On "
        )
        text += "its own it singles out almost every row. Round or group it, or leave it out."
        yield Warned("nearly_unique_quasi_identifier", (facts.name,), text)


def _warn_about_floats(facts: ColumnFacts) -> Iterator[Warned]:
    if facts.kind == Kind.FLOAT and facts.whole_numbers not in (None, facts.filled):
        hint = f"Round it, for example {spelled('qi', f'round({typed(facts.name)}, 1)')}."
        text = (
            f"{written(facts.name)} is a floating-point quasi-identifier. Numbers that print alike may differ and be "
        )
        text += f"in different groups. {hint}"
        yield Warned("float_quasi_identifier", (facts.name,), text, hint)


def _warn_about_variants(facts: ColumnFacts, where: str) -> Iterator[Warned]:
    if facts.spelling_variants:
        number = "1 value differs" if facts.spelling_variants == 1 else f"{facts.spelling_variants:,} values differ"
        text = f"{written(facts.name)}: {number} from another one only in case or spaces{where}, "
        yield Warned("spelling_variants", (facts.name,), f"{text}which splits groups that belong together.")


# Functions of the audited database that a user's own SQL calls. Their results cannot be checked, so they are named.

_BUILT_IN = {"pg_catalog", "system", "builtin"}


def called_functions(texts: Iterable[str], dialect: str) -> tuple[str, ...]:
    """Return the functions and operators that are called by schema and name, in the order of the texts.

    Example:
        >>> called_functions(["clinic.main.band(age) + abs(zip)", "pg_catalog.lower(sex)"], "postgres")
        ('clinic.main.band',)
    """
    called = [text for text in texts if "(" in text and "." in text]  # as a call has, and OPERATOR(schema.+) too
    return tuple(dict.fromkeys(name for text in called for name in _functions_in(text, dialect)))


def warn_about_functions(texts: Iterable[str], dialect: str) -> list[Warned]:
    """Return the warning `function_of_the_database` if a text calls such functions."""
    names = called_functions(texts, dialect)
    if not names:
        return []
    text = f"An expression, condition or query calls {', '.join(names)} of the audited database. "
    text += f"The verdict applies to the values that {'it returns' if len(names) == 1 else 'they return'}."
    return [Warned("function_of_the_database", (), text)]


def _functions_in(text: str, dialect: str) -> Iterator[str]:
    """Yield the qualified names of the functions that a text calls."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(text, dialect=dialect)
    except SqlglotError:  # a column's name, which is no expression
        return
    yield from filter(None, map(_qualified_name, tree.find_all(exp.Dot, exp.Table, exp.Operator)))


def _qualified_name(node: exp.Expression) -> str:
    """Return the function that a node calls by schema and name; empty for other nodes and built-in functions."""
    from sqlglot import exp

    if isinstance(node, exp.Operator):
        parts = [part.strip('"') for part in str(node.args.get("operator") or "").split(".")]
    elif isinstance(node, exp.Table):
        if not isinstance(node.this, exp.Func):
            return ""
        parts = [part.name for part in (node.args.get("catalog"), node.args.get("db")) if part] + [
            _function_name(node.this)
        ]
    else:
        if not isinstance(node.expression, exp.Func) or isinstance(node.parent, exp.Dot):
            return ""
        parts = [part.name for part in node.flatten() if not isinstance(part, exp.Func)] + [
            _function_name(node.expression)
        ]
    return ".".join(parts) if len(parts) > 1 and not _BUILT_IN & {part.lower() for part in parts[:-1]} else ""


def _function_name(call: exp.Func) -> str:
    from sqlglot import exp

    return call.name if isinstance(call, exp.Anonymous) else call.sql_name().lower()
