"""The report of a profile: the proposed roles first, then what to look at, and how to go on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from sqlaudit.base.words import spelled
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.profiles.result import ColumnFacts, ColumnProfile, ProfileResult, Role
from sqlaudit.reports.blocks import Block, Bullets, Column, Facts, ProposedCommand, Table, Toned, Words
from sqlaudit.reports.document import About, Document, Section, section
from sqlaudit.reports.figures import count, listing, part, percent, plural
from sqlaudit.reports.ran import made, sql_section

TITLES = {
    Role.DIRECT_IDENTIFIER: "Direct identifiers: leave them out, whatever else you do",
    Role.QUASI_IDENTIFIER: "Quasi-identifiers: what others may know about a person",
    Role.SENSITIVE: "Sensitive: what others should not learn",
    Role.OTHER: "Other columns",
}
_RIGHT = "That the proposals are right: they follow from names and from counts of values. Who knows the people decides."
_ALONE = "Whether several columns together pick somebody out, although none of them does alone: audit them together."
_TEXTS = "Whether a text that looks harmless names a person."
_MOST_SETS = 8
_LONGEST = 40


def profile_document(result: ProfileResult) -> Document:
    """A profile as a document for any layout.

    Args:
        result: what the profile found; values are shown where it holds them, and only there.
    """
    roles = (section(TITLES[role], _table(result, role)) for role in Role)
    return Document(
        Toned(f"{result.target}: {plural(result.rows, 'row')}, {plural(len(result.columns), 'column')}"),
        (Bullets(tuple(_lead(result))),),
        (
            *(found for sections in roles for found in sections),
            *section("Columns that together pick people out", *_together(result)),
            *section("What to look at", Bullets(tuple(_remarks(result)))),
            *section("Values", _values(result)),
            *section("How to go on", _next(result), repeating=True),
            *_how(result),
            *sql_section(result),
            *section("What a profile does not say", Bullets(_not_said(result))),
        ),
        about=About(result.target, result.time),
    )


def _lead(result: ProfileResult) -> Iterator[Words]:
    if result.cells is not None:
        yield Toned(
            f"Every row looks like a cell of a published table, with {result.cells.count} as its count, and not like a "
            "person: judge its cells.",
            "warn",
        )
    identifiers = result.named(Role.DIRECT_IDENTIFIER)
    if identifiers:
        verb = "looks like a direct identifier" if len(identifiers) == 1 else "look like direct identifiers"
        yield Toned(f"{listing(identifiers)} {verb}.", "bad")
    known = [column for column in result.columns if column.role is Role.QUASI_IDENTIFIER]
    if any(not column.proposal.by_sets for column in known):
        yield f"Others may know {listing(column.name for column in known if not column.proposal.by_sets)}."
    telling = [column.name for column in known if column.proposal.by_sets]
    if telling:
        verb, them = ("picks", "it") if len(telling) == 1 else ("pick", "them")
        yield f"{listing(telling)} {verb} people out, should others know {them}."
    if result.named(Role.SENSITIVE):
        yield f"Others should not learn {listing(result.named(Role.SENSITIVE))}."
    if result.entity is not None:
        yield f"{result.entity.column} seems to say which person a row is about: {result.entity.reason}."
    if result.unreadable:
        one = len(result.unreadable) == 1
        said = "1 column is" if one else f"{len(result.unreadable):,} columns are"
        said += " not looked at, because this role may not read " + ("it" if one else "them")
        yield Toned(f"{said}: {listing(result.unreadable)}.", "warn")
    if not result.rows:
        yield Toned("There is no row to look at; roles are proposed by names only.", "warn")


def _table(result: ProfileResult, role: Role) -> Table:
    heads = (Column("column"), Column("values", True), Column("missing", True), Column("rare", True), Column("why"))
    rows = tuple(_row(column) for column in result.columns if column.role is role)
    return Table(heads, rows)


def _row(column: ColumnProfile) -> tuple[Words, ...]:
    facts = column.facts
    values = ("" if facts.exact else "about ") + count(facts.distinct)
    missing = part(facts.nulls, facts.rows) if facts.nulls else ""
    rare = "?" if facts.rows_below_5 is None else part(facts.rows_below_5, facts.rows) if facts.rows_below_5 else ""
    return column.name, values, missing, rare, _why(column)


def _why(column: ColumnProfile) -> str:
    """The reasons; not that there is none, which is said once below."""
    unknown = column.role is Role.OTHER and not column.facts.constant
    return "; ".join(column.proposal.reasons[1:] if unknown else column.proposal.reasons)


def _remarks(result: ProfileResult) -> Iterator[Words]:
    if any(facts.rows_below_5 for facts in _facts(result)):
        yield '"rare" is the share of rows that have a value which fewer than five rows have.'
    if any(column.role is Role.OTHER and not column.facts.constant for column in result.columns):
        yield "Neither name nor values say what the other columns hold: ask whether others can know it."
    for facts in _facts(result):
        yield from _remarks_on(facts)
    yield from _groups_of(result)
    for twins in result.twins:
        how = "are equal in every row" if twins.equal else "say the same in other values"
        yield f"{twins.first} and {twins.second} {how}: who knows one knows the other."
    sampled = [facts for facts in _facts(result) if not facts.exact]
    if sampled:
        yield (
            f"{plural(len(sampled), 'column')} {'was' if len(sampled) == 1 else 'were'} looked at in a sample of about "
            f"{count(sampled[0].looked_at)} rows; their numbers of values are estimates."
        )


def _remarks_on(facts: ColumnFacts) -> Iterator[Words]:
    if facts.respelled:
        verb = "differs" if facts.respelled == 1 else "differ"
        yield Toned(
            f"{facts.name}: {plural(facts.respelled, 'value')} {verb} from another one only in case or spaces; such "
            "values split classes that belong together.",
            "warn",
        )
    missing = facts.shapes.get("missing", 0)
    if missing:
        has = "has" if missing == 1 else "have"
        yield Toned(
            f"{facts.name}: {plural(missing, 'row')} {has} a text that usually means missing.",
            hint=f"If it does, read {facts.name} with {spelled('null_values')}.",
        )


def _groups_of(result: ProfileResult) -> Iterator[Words]:
    """What is said once of several columns."""
    numbers = [facts.name for facts in _facts(result) if facts.shape_share("number") > 0.5]
    dates = [facts.name for facts in _facts(result) if facts.shape_share("date") > 0.5]
    broken = [facts.name for facts in _facts(result) if facts.kind == "float" and facts.whole != facts.filled]
    for names, what in ((numbers, "numbers as text"), (dates, "dates as text")):
        if names:
            yield f"{listing(names)} {'holds' if len(names) == 1 else 'hold'} {what}."
    if broken:
        verb, them = ("holds", "it") if len(broken) == 1 else ("hold", "them")
        yield f"{listing(broken)} {verb} floating-point numbers: round {them} before values are compared."


def _together(result: ProfileResult) -> tuple[Block, ...]:
    found = result.together
    if found is None:
        return (Bullets((result.not_searched,)),) if result.not_searched else ()
    sets = found.sets[:_MOST_SETS]
    heads = (Column("columns"), Column("rows below 5", True), Column("share", True), Column("alone", True))
    rows = tuple(
        (", ".join(one.columns), count(one.rows_at_risk), percent(one.share_at_risk), count(one.unique_rows))
        for one in sets
    )
    more = found.sets_found - len(sets)
    caption = f"The first {count(len(sets))}; {count(more)} more were found." if more else ""
    proof = ProposedCommand(
        "With proof, and what each column adds:",
        ("sqlaudit", "columns", shlex.quote(result.target), "--tolerance", "1%"),
    )
    return Bullets(tuple(_about_sets(found))), Table(heads, rows, caption), proof


def _about_sets(found: ColumnSets) -> Iterator[Words]:
    size = f"at most {plural(found.max_size or 0, 'column')}"
    among = f"among {plural(len(found.columns), 'column')}; sensitive ones were left out."
    at_risk = f"more than {percent(found.tolerance)} of the rows into groups of fewer than {found.k}"
    if found.sets_found:
        yield (
            f"{plural(found.sets_found, 'minimal set')} of {size} put{'s' if found.sets_found == 1 else ''} {at_risk}, "
            f"{among}"
        )
    elif found.complete:
        yield f"No set of {size} puts {at_risk}, {among}"
    if not found.complete:
        decided = max(found.decided_size or 0, 0)
        yield Toned(
            f"The search ran out of time: only sets of at most {plural(decided, 'column')} are decided.", "warn"
        )
    if found.sets_found and found.repair:
        yield f"Without {listing(found.repair)} no such set is left."


def _not_said(result: ProfileResult) -> tuple[str, ...]:
    if result.together is None:
        return _RIGHT, _ALONE, _TEXTS
    more = f"Whether more than {plural(result.together.max_size or 0, 'column')} together pick somebody out."
    return _RIGHT, more, _TEXTS


def _values(result: ProfileResult) -> Facts:
    pairs = [(column.name, _shown(column)) for column in result.columns if column.values is not None]
    return Facts(tuple((name, words) for name, words in pairs if words))


def _shown(column: ColumnProfile) -> str:
    if column.values is None or not column.values.most_frequent:
        return ""
    frequent = ", ".join(f"{_cut(value)} ({count(rows)})" for value, rows in column.values.most_frequent)
    return f"from {_cut(column.values.smallest)} to {_cut(column.values.largest)}; most frequent: {frequent}"


def _cut(value: object) -> str:
    text = str(value)
    return '""' if not text else text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _next(result: ProfileResult) -> Block:
    """The command to go on with, as proposed."""
    target = shlex.quote(result.target)
    if result.cells is not None:
        cells = ("--by", option_value(result.cells.by), "--count", option_value([result.cells.count]))
        return ProposedCommand(
            "Judge its cells:", ("sqlaudit", "aggregates", target, *cells, "--require", "threshold=5")
        )
    known, secret = result.named(Role.QUASI_IDENTIFIER), result.named(Role.SENSITIVE)
    if not known:
        said = f"Name what others may know about a person with {spelled('qi')}, and audit: sqlaudit audit TARGET --qi …"
        return Bullets((said,))
    options = ["--qi", option_value(known), *(["--sensitive", option_value(secret)] if secret else [])]
    if result.entity is not None:
        options += ["--entity", option_value([result.entity.column]), "--require", "k=5,km@2=5"]
    return ProposedCommand("Correct the roles, then audit:", ("sqlaudit", "audit", target, *options))


def option_value(names: Sequence[str]) -> str:
    """Columns as the command line takes them: odd names in double quotes, and all of it quoted for a shell."""
    simple = (name.replace("_", "a").replace("-", "a").isalnum() for name in names)
    return shlex.quote(
        ",".join(n if ok else '"' + n.replace('"', '""') + '"' for n, ok in zip(names, simple, strict=True))
    )


def _how(result: ProfileResult) -> tuple[Section, ...]:
    pairs = (("table", result.target), *made(result))
    return section("How this was computed", Facts(pairs))


def _facts(result: ProfileResult) -> list[ColumnFacts]:
    return [column.facts for column in result.columns]
