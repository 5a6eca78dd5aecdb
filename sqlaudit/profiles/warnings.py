"""What a reader of an audit should know: columns that say who somebody is, and what a verdict does not cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from sqlaudit.base.columns_of import Resolved, columns_read, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote, spoken
from sqlaudit.base.parameter_names import about, command, spelled
from sqlaudit.base.relation import NUMBERS, Kind, Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import KnownRows
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.columns import Source, estimated_distinct, facts_of, propose, values_statement
from sqlaudit.profiles.names import concept_of, count_table, count_table_statements, published_table
from sqlaudit.profiles.result import NEARLY, ColumnFacts, Role
from sqlaudit.reports.document import listing

if TYPE_CHECKING:
    from sqlglot import exp


# Values that are equal and yet written differently: they count as one, and who reads the table tells them apart.

_ADVICE = (
    "they count as one value here, and whoever reads the table as text tells them apart. Write the values in one way "
    "before the table is published, or audit their texts (docs/equality.md)."
)


@dataclass(frozen=True)
class _Looked:
    """A column to look at. `type`: of a number that a text file writes. `meant`: whether texts may mean one number."""

    label: str
    sql: str
    source: str
    type: str = ""
    meant: bool = False


def equal_text_statement(
    engine: Engine, relation: Relation, roles: Sequence[Resolved], sensitive: Sequence[Resolved] = (), first: int = 0
) -> list[Statement]:
    """The statement that counts such values among the first rows (0 = all); none where no column can have any."""
    columns = [
        {"sql": Raw(one.sql), "source": Raw(one.source), "type": one.type, "meant": one.meant}
        for one in _looked(engine, relation, roles, sensitive)
    ]
    return [render("profiles/equal_texts.sql", engine.dialect, columns=columns, first=first)] if columns else []


def equal_text_warnings(
    engine: Engine, relation: Relation, roles: Sequence[Resolved], sensitive: Sequence[Resolved], first: int
) -> list[Warned]:
    """Warnings with the code `equal_but_written_differently`, one a column.

    Args:
        engine, relation: where the table is. roles: quasi-identifiers. sensitive: sensitive attributes.
        first: the rows that are looked at.
    """
    asked = _looked(engine, relation, roles, sensitive)
    counts = {
        int(column): int(count)
        for statement in equal_text_statement(engine, relation, roles, sensitive, first)
        for column, count in engine.run(statement)
    }
    found = [_counted(one, counts[i]) for i, one in enumerate(asked) if counts.get(i)]
    return [*found, *(_by_type(role.label) for role in (*roles, *sensitive) if role.column in relation.respelled)]


def _looked(
    engine: Engine, relation: Relation, roles: Sequence[Resolved], sensitive: Sequence[Resolved]
) -> list[_Looked]:
    """The columns that may have such values."""
    found = []
    for role in (*roles, *sensitive):
        if role.column is not None and relation.written and role.kind in NUMBERS:
            found.append(_Looked(role.label, quote(role.column, engine.dialect), relation.written, role.type))
        elif _may_differ(role, relation, engine.dialect):
            found.append(_Looked(role.label, role.sql, relation.sql))
    texts = [role for role in sensitive if role.kind is Kind.TEXT and role.type.lower() != "uuid"]
    return [*found, *(_Looked(role.label, role.sql, relation.sql, meant=True) for role in texts)]


def _may_differ(role: Resolved, relation: Relation, dialect: str) -> bool:
    """Whether values of this type can be equal and have several texts; an expression's type may not be known."""
    if not role.type or role.column in relation.respelled:
        return False
    if role.kind is Kind.DECIMAL:
        return spoken(dialect).loose_decimals and "(" not in role.type
    if role.kind is Kind.OTHER:
        return not role.type.lower().startswith(("bytea", "blob", "binary", "bit", "variant", "geometry"))
    return role.kind is Kind.FLOAT or (role.kind is Kind.TEXT and "COLLATE" in role.type.upper())


def _counted(one: _Looked, count: int) -> Warned:
    number = "1 value is" if count == 1 else f"{count:,} values are"
    if one.meant:
        said = (
            "mean the same (as 01 and 1, 1,5 and 1.5, or 2020-1-1 and 2020-01-01), and each counts as a value of its "
        )
        said += "own. Write the values in one way."
    else:
        said = f"are equal to the database (as 1.0 and 1.00, or -0 and 0): {_ADVICE}"
    text = f"{one.label}: {number} written in several ways that {said}"
    return Warned("equal_but_written_differently", (one.label,), text)


def _by_type(name: str) -> Warned:
    return Warned(
        "equal_but_written_differently",
        (name,),
        f"{name} has a collation or a type by which values are equal that are written differently (as A and a): "
        + _ADVICE,
    )


# What a verdict does not cover, in sentences with column names and counts: columns without a role, columns that nobody
# could read, quasi-identifiers without a value, and persons with several rows. Pure.

MANY = 0.1
"""From this share of rows that are alone with their value on, a column is said to pick out many rows."""
FEW_ROWS = 10
"""In fewer rows it says little that many are alone."""


def without_role(names: Sequence[str]) -> Warned | None:
    """That columns have no role: nothing is said of them."""
    if not names:
        return None
    one = len(names) == 1
    return Warned(
        "columns_without_role",
        tuple(names),
        f"Nothing is said here of {_columns(names)} without a role: {listing(names)}. "
        f"Whoever knows {'it' if one else 'them'} may know more than the quasi-identifiers.",
    )


def as_expressions(labels: Sequence[str], columns: Sequence[str]) -> Warned | None:
    """That a verdict is about expressions, and not about the columns that they read.

    Args:
        labels: the expressions as they were given. columns: those that nothing but expressions read.
    """
    if not columns:
        return None
    stand, them = ("stands", "it") if len(labels) == 1 else ("stand", "them")
    return Warned(
        "read_by_expressions",
        tuple(columns),
        f"{listing(labels)} {stand} for {listing(columns)} here: what is said holds for a table that has {them} "
        "instead.",
    )


def likely_known(seen: Sequence[ColumnFacts], unseen: Sequence[str], where: str) -> Warned | None:
    """Columns without a role that look like quasi-identifiers, or that pick out many rows.

    Args:
        seen: those that were looked at. unseen: names of further ones. where: which rows were looked at.
    """
    alike = [facts.name for facts in seen if (propose(facts).role is Role.QUASI_IDENTIFIER)]
    alike += [name for name in unseen if (found := concept_of(name)) and found.role is Role.QUASI_IDENTIFIER]
    telling = [facts for facts in seen if facts.name not in alike and _picks_out(facts)]
    if not alike and not telling:
        return None
    said = "; ".join(_known_parts(alike, telling, where))
    names = (*alike, *(facts.name for facts in telling))
    them = "it" if len(names) == 1 else "them"
    hint = f"Name {them} with {spelled('qi')} if others may know {them}."
    return Warned("possible_quasi_identifier", names, f"Without a role: {said}. {hint}", hint)


def _known_parts(alike: Sequence[str], telling: Sequence[ColumnFacts], where: str) -> Iterator[str]:
    if alike:
        verb = "looks like a quasi-identifier" if len(alike) == 1 else "look like quasi-identifiers"
        yield f"{listing(alike)} {verb}"
    if telling:
        verb = "picks" if len(telling) == 1 else "pick"
        shares = [f"{one.name} ({one.unique_rows:,} of {one.looked_at:,} rows are alone)" for one in telling]
        yield f"{listing(shares)} {verb} out many rows{where}"


def empty(seen: Sequence[ColumnFacts], where: str) -> Warned | None:
    """Quasi-identifiers without any value: they keep nobody apart, and hide that a column was not filled."""
    names = [facts.name for facts in seen if facts.looked_at and not facts.filled]
    if not names:
        return None
    verb, it = ("has", "it tells") if len(names) == 1 else ("have", "they tell")
    return Warned(
        "empty_quasi_identifier",
        tuple(names),
        f"{listing(names)} {verb} no value in any row{where}, so {it} nobody apart: is this the table that was meant?",
    )


def unreadable(names: Sequence[str]) -> Warned | None:
    """Columns that the role may not read."""
    if not names:
        return None
    them = "it" if len(names) == 1 else "them"
    return Warned(
        "unreadable_columns",
        tuple(names),
        f"{_columns(names).capitalize()} of the table may not be read by this role, so nothing is said of {them}: "
        f"{listing(names)}.",
    )


_JUDGED = {
    KnownRows.WORSE: (
        "for somebody who knows one row of a person and for somebody who knows all of them; the worse is the verdict"
    ),
    KnownRows.ONE: ("for somebody who knows one row of a person; nothing is said of somebody who knows several"),
    KnownRows.ALL: ("for somebody who knows all rows of a person; nothing is said of somebody who knows one or some"),
}


def persons_with_several(entity: str, persons: int, several: int, known: KnownRows) -> Warned | None:
    """For whom a verdict holds that counts persons.

    Args:
        entity: what the persons are called. persons: how many there are. several: how many of them have more than one
            combination of the quasi-identifiers. known: which rows of a person somebody knows for whom is judged.
    """
    if not persons:
        return None
    if not several:
        return Warned(
            "one_combination",
            (entity,),
            f"Persons are counted by {entity}. Each has one combination of the quasi-identifiers, so it makes no "
            "difference how many rows of a person somebody knows.",
        )
    has, is_are = ("has", "1 person") if several == 1 else ("have", f"{several:,} persons")
    return Warned(
        "several_combinations",
        (entity,),
        f"Persons are counted by {entity}. {is_are} of {persons:,} {has} more than one combination of the "
        f"quasi-identifiers, and it is judged {_JUDGED[known]}.",
    )


def _columns(names: Sequence[str]) -> str:
    return "1 column" if len(names) == 1 else f"{len(names):,} columns"


def _picks_out(facts: ColumnFacts) -> bool:
    """Whether many rows are alone with their value. Direct identifiers are told of in a sentence of their own."""
    if facts.looked_at < FEW_ROWS or propose(facts).role is Role.DIRECT_IDENTIFIER:
        return False
    return (facts.unique_rows or 0) >= MANY * facts.looked_at


def can_be_looked_at(kind: Kind) -> bool:
    """Whether every engine can group by it."""
    return kind is not Kind.OTHER


# What a reader of an audit should know about the published columns, from one cheap statement over the first rows.

FIRST_ROWS = 20_000
"""How many rows are looked at: enough to see how a column is spelled, and nothing beside an audit of a large table."""
PSEUDONYMS = ("record_id", "uuid")
"""What the column of persons may be without a notice: it tells persons apart and does not say who they are."""
MOST_OTHERS = 20
"""Columns without a role that are looked at, so many with text and so many others; of the rest only the names."""


class Named(Protocol):
    """The columns of an audit by role, as `sqlaudit.classes.opening.ResolvedRoles` has them."""

    @property
    def quasi_identifiers(self) -> tuple[Resolved, ...]: ...
    @property
    def sensitive(self) -> tuple[Resolved, ...]: ...
    @property
    def identifiers(self) -> tuple[Resolved, ...]: ...
    @property
    def entity(self) -> Resolved | None: ...


@dataclass(frozen=True)
class _Seen:
    """A column as far as it was looked at. `once` are the values that occur once among the rows looked at; `of_persons`
    says that it names persons."""

    facts: ColumnFacts
    once: int
    named: bool
    is_key: bool
    roleless: bool = False
    of_persons: bool = False


def audit_warnings(
    engine: Engine,
    relation: Relation,
    roles: Named,
    classes: ClassSizes | None = None,
    rows: int | None = None,
    insensitive: Sequence[str] = (),
) -> list[Warned]:
    """The warnings of an audit.

    Codes: `direct_identifier`, `possible_direct_identifier`, `division_of_whole_numbers`, `header_guessed`,
    `possible_quasi_identifier`, `unreadable_columns`, `empty_quasi_identifier`, `read_by_expressions`,
    `columns_without_role`, `nearly_unique_quasi_identifier`, `float_quasi_identifier`, `spelling_variants`,
    `equal_but_written_differently`, `published_table`.
    Messages hold counts, names and expressions of columns.

    Args:
        engine, relation: where the published table is. roles: the roles of its columns.
        classes: the equivalence classes, when they are known: fewer of them than `NEARLY` times the rows prove that no
            quasi-identifier is nearly unique.
        rows: rows of the table, when known; else the rows looked at stand for it.
        insensitive: columns that need no role, because somebody looked at them.
    """
    bare = roleless_columns(relation, roles, engine.dialect, insensitive)
    seen = _look(engine, relation, roles, bare)
    looked_at = max((column.facts.looked_at for column in seen), default=0)
    whole = max(rows or 0, looked_at)
    where = f" (in the first {looked_at:,} rows)" if whole > looked_at else ""
    looked = {column.facts.name for column in seen}
    unseen = [name for name in bare if name not in looked]
    found = [
        _declared(roles.identifiers),
        _likely(seen, relation, roles, where),
        *_divisions(engine, relation, roles),
        *(Warned(remark.code, (), remark.text) for remark in relation.remarks),
        likely_known([column.facts for column in seen if column.roleless], unseen, where),
        unreadable(relation.unreadable),
        empty([column.facts for column in seen if column.is_key], where),
        _expressions(relation, roles, engine.dialect),
        without_role(bare),
        *(_nearly_unique(column, whole) for column in seen if column.is_key and _can_be_unique(classes)),
        *(_float(column.facts) for column in seen if column.is_key),
        *(_variants(column, where) for column in seen if column.is_key),
    ]
    texts = equal_text_warnings(engine, relation, roles.quasi_identifiers, roles.sensitive, FIRST_ROWS)
    cells = count_table(engine, relation, rows)
    return [
        *(warning for warning in found if warning is not None),
        *texts,
        *([published_table(cells)] if cells else []),
    ]


def warning_statements(engine: Engine, relation: Relation, roles: Named) -> list[Statement]:
    """The statements that `audit_warnings` runs: one for all columns to look at, one for types with equal texts."""
    keys, values = roles.quasi_identifiers, roles.sensitive
    return [
        *_looking(engine, relation, roles),
        *equal_text_statement(engine, relation, keys, values, FIRST_ROWS),
        *count_table_statements(engine, relation),
    ]


def _looking(engine: Engine, relation: Relation, roles: Named) -> list[Statement]:
    sources = _sources(relation, roles, engine.dialect)
    return [values_statement(engine, relation, sources, first=FIRST_ROWS, step="warnings")] if sources else []


def roleless_columns(
    relation: Relation, roles: Named, dialect: str, insensitive: Sequence[str] = ()
) -> tuple[str, ...]:
    """The columns that no role reads, and that nobody said to be insensitive.

    Raises:
        UsageError: an insensitive column that is not there, or that has a role.
    """
    entity = (roles.entity,) if roles.entity else ()
    named = (*roles.quasi_identifiers, *roles.sensitive, *roles.identifiers, *entity)
    read = {column for role in named for column in columns_read(role, relation, dialect)}
    for name in insensitive:
        column = resolve(name, relation, dialect, about("insensitive")).column
        if column is None or column in read:
            said = "is an expression" if column is None else "has a role already"
            raise UsageError(f"{about('insensitive')}: {name!r} {said}; name columns that need no role.")
        read.add(column)
    return tuple(column.name for column in relation.columns if column.name not in read)


def _expressions(relation: Relation, roles: Named, dialect: str) -> Warned | None:
    """Which columns nothing but expressions over them stand for."""
    made = [role for role in (*roles.quasi_identifiers, *roles.sensitive) if role.column is None]
    whole = _names(roles)
    read = [sorted(columns_read(role, relation, dialect) - whole) for role in made]
    labels = [role.label for role, columns in zip(made, read, strict=True) if columns]
    return as_expressions(labels, list(dict.fromkeys(name for columns in read for name in columns)))


def _look(engine: Engine, relation: Relation, roles: Named, bare: Sequence[str]) -> list[_Seen]:
    sources = _sources(relation, roles, engine.dialect)
    rows = {int(row[0]): row for statement in _looking(engine, relation, roles) for row in engine.run(statement)}
    keys, named = len(roles.quasi_identifiers), len(roles.quasi_identifiers) + len(roles.sensitive)
    return [
        _Seen(
            facts_of(source, rows.get(i)),
            int(rows[i][7]) if i in rows else 0,
            i < named,
            i < keys,
            i >= named and source.name in bare,
            roles.entity is not None and i == len(sources) - 1 and source.name == roles.entity.label,
        )
        for i, source in enumerate(sources)
    ]


def _sources(relation: Relation, roles: Named, dialect: str) -> list[Source]:
    """Quasi-identifiers, then sensitive attributes, then other columns: they are published as well; last who is who."""
    given = [*roles.quasi_identifiers, *roles.sensitive]
    others = [
        Source(column.name, quote(column.name, dialect), column.kind)
        for column in relation.columns
        if can_be_looked_at(column.kind) and column.name not in _names(roles)
    ]
    texts = [source for source in others if source.kind is Kind.TEXT]
    figures = [source for source in others if source.kind is not Kind.TEXT]
    looked_at = {source.name for source in (*texts[:MOST_OTHERS], *figures[:MOST_OTHERS])}
    chosen = [source for source in others if source.name in looked_at]
    persons = [roles.entity] if roles.entity is not None and roles.entity.kind is Kind.TEXT else []
    first, last = ([Source(item.label, item.sql, item.kind) for item in items] for items in (given, persons))
    return [*first, *chosen, *last]


def _divisions(engine: Engine, relation: Relation, roles: Named) -> Iterator[Warned]:
    """Expressions that another engine would read in another way."""
    entity = (roles.entity,) if roles.entity else ()
    expressions = [
        item for item in (*roles.quasi_identifiers, *roles.sensitive, *roles.identifiers, *entity) if not item.column
    ]
    if not expressions:
        return
    from sqlaudit.base.guard import DIVISION, remark_on_text

    for item in expressions:
        remark = remark_on_text(item.sql, relation.columns, engine.dialect, item.label)
        if remark:
            yield Warned(DIVISION, (item.label,), remark)


def _names(roles: Named) -> set[str | None]:
    entity = (roles.entity,) if roles.entity else ()
    return {item.column for item in (*roles.quasi_identifiers, *roles.sensitive, *roles.identifiers, *entity)}


def _declared(identifiers: Sequence[Resolved]) -> Warned | None:
    names = tuple(item.label for item in identifiers)
    if not names:
        return None
    verb, them = ("is a direct identifier", "it") if len(names) == 1 else ("are direct identifiers", "them")
    return Warned(
        "direct_identifier",
        names,
        f"{listing(names)} {verb} among the columns of the table: leave {them} out, or whoever sees a row needs no "
        "quasi-identifier.",
    )


def _likely(seen: Sequence[_Seen], relation: Relation, roles: Named, where: str) -> Warned | None:
    """Columns that look like direct identifiers though nobody said so: by their texts, or by name alone."""
    names = [
        column.facts.name
        for column in seen
        if identifies(column.facts) and not (column.of_persons and propose(column.facts).concept in PSEUDONYMS)
    ]
    entity = roles.entity.column if roles.entity is not None else None
    known = (_names(roles) - {entity}) | {column.facts.name for column in seen}
    for column in relation.columns:
        concept = concept_of(column.name) if column.name not in known else None
        pseudonym = column.name == entity and concept is not None and concept.name in PSEUDONYMS
        identifying = concept is not None and concept.role is Role.DIRECT_IDENTIFIER and not pseudonym
        if identifying and column.kind in (Kind.INTEGER, Kind.TEXT):
            names.append(column.name)
    if not names:
        return None
    verb = "looks like a direct identifier" if len(names) == 1 else "look like direct identifiers"
    hint = f"{command('profile')} gives the reasons."
    return Warned(
        "possible_direct_identifier",
        tuple(names),
        f"{listing(names)} {verb}{where}: whoever is named in a row can be found whatever the size of the class. "
        f"{hint}",
        hint,
    )


def identifies(facts: ColumnFacts) -> bool:
    """Whether a column looks like a direct identifier, by its name or by its values."""
    proposal = propose(facts)
    return proposal.role is Role.DIRECT_IDENTIFIER and proposal.concept is not None


def _can_be_unique(classes: ClassSizes | None) -> bool:
    """A column has no more values than there are classes."""
    return classes is None or classes.per_row or classes.count >= NEARLY * classes.members


def _nearly_unique(column: _Seen, whole: int) -> Warned | None:
    facts = column.facts
    if not facts.nearly_unique:
        return None
    rows, about = facts.filled, ""
    distinct = facts.distinct
    if whole > facts.looked_at:
        rows = round(whole * facts.filled / facts.looked_at)
        distinct, about = estimated_distinct(facts.distinct, column.once, facts.filled, rows), "about "
    if distinct < NEARLY * rows:
        return None
    return Warned(
        "nearly_unique_quasi_identifier",
        (facts.name,),
        f"{facts.name} has {about}{distinct:,} different values in {about}{rows:,} rows with a value: alone it picks "
        "out almost every row. Round or group it, or leave it out.",
    )


def _float(facts: ColumnFacts) -> Warned | None:
    if facts.kind != Kind.FLOAT or facts.whole is None or facts.whole == facts.filled:
        return None
    hint = f"Round it, for instance {spelled('qi', f'round({facts.name}, 1)')}."
    return Warned(
        "float_quasi_identifier",
        (facts.name,),
        f"{facts.name} is a floating-point quasi-identifier: numbers that print alike may differ, and then fall into "
        f"different classes. {hint}",
        hint,
    )


def _variants(column: _Seen, where: str) -> Warned | None:
    facts = column.facts
    if not facts.respelled:
        return None
    number = "1 value differs" if facts.respelled == 1 else f"{facts.respelled:,} values differ"
    return Warned(
        "spelling_variants",
        (facts.name,),
        f"{facts.name}: {number} from another one only in case or spaces{where}, "
        "which splits classes that belong together.",
    )


# Functions of the audited database that a user's own SQL calls, to be named: their results are taken as they are.

_BUILT_IN = {"pg_catalog", "system", "builtin"}


def called_functions(texts: Iterable[str], dialect: str) -> tuple[str, ...]:
    """The functions and operators that are called with the schema they are in, in the order of the texts.

    Example:
        >>> called_functions(["clinic.main.band(age) + abs(zip)", "pg_catalog.lower(sex)"], "postgres")
        ('clinic.main.band',)
    """
    called = [text for text in texts if "(" in text and "." in text]  # as a call has, and OPERATOR(schema.+) too
    return tuple(dict.fromkeys(name for text in called for name in _named(text, dialect)))


def called_warning(texts: Iterable[str], dialect: str) -> list[Warned]:
    """The warning `function_of_the_database`, when there are such functions."""
    names = called_functions(texts, dialect)
    if not names:
        return []
    listed = ", ".join(names)
    return [
        Warned(
            "function_of_the_database",
            (),
            f"An expression, condition or query calls {listed} of the audited database: what it returns is taken as it "
            "is, so the verdict holds for the values that it gives.",
        )
    ]


def _named(text: str, dialect: str) -> list[str]:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(text, dialect=dialect)
    except SqlglotError:  # a column's name, which is no expression
        return []
    return list(filter(None, map(_name, tree.find_all(exp.Dot, exp.Table, exp.Operator))))


def _name(node: exp.Expression) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Operator):
        parts = [part.strip('"') for part in str(node.args.get("operator") or "").split(".")]
    elif isinstance(node, exp.Table):
        if not isinstance(node.this, exp.Func):
            return ""
        parts = [part.name for part in (node.args.get("catalog"), node.args.get("db")) if part] + [_function(node.this)]
    else:
        if not isinstance(node.expression, exp.Func) or isinstance(node.parent, exp.Dot):
            return ""
        parts = [part.name for part in node.flatten() if not isinstance(part, exp.Func)] + [_function(node.expression)]
    return ".".join(parts) if len(parts) > 1 and not _BUILT_IN & {part.lower() for part in parts[:-1]} else ""


def _function(call: exp.Func) -> str:
    from sqlglot import exp

    return call.name if isinstance(call, exp.Anonymous) else call.sql_name().lower()
