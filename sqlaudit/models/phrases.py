"""How a check is said in words, the checks of what no model sees, and the list of models with the page of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlaudit.base.result import Status
from sqlaudit.base.spec import KnownRows
from sqlaudit.models.base import Check
from sqlaudit.reports import document as doc

# The checks of what no privacy model sees: direct identifiers in the table, and columns without a role.

IDENTIFIER, COLUMNS_NAMED = "direct_identifier", "all_columns_named"
ALL_NAMED = "all_columns_named"
"""The requirement as a policy calls it."""


def no_identifier(column: str) -> str:
    """The requirement that a direct identifier is not in the table, as reports call it."""
    return f"no direct identifier {column}"


def with_accepted(identifiers: Sequence[str], accepted: Sequence[str]) -> tuple[str, ...]:
    """The direct identifiers, those among them that are accepted included.

    Example:
        >>> with_accepted(["mail"], ["id", "mail"])
        ('mail', 'id')
    """
    return (*identifiers, *(name for name in accepted if name not in identifiers))


def identifier_checks(identifiers: Sequence[str], accepted: Sequence[str], rows: int | None) -> tuple[Check, ...]:
    """One check a direct identifier that the table has: it fails unless it was accepted by its name.

    Every row falls short of it; `rows` is None when nobody counted them.

    Example:
        >>> [(one.parameters["column"], one.status.value) for one in identifier_checks(["mail", "id"], ["id"], 7)]
        [('mail', 'fail'), ('id', 'pass')]
    """
    found = []
    for name in identifiers:
        is_accepted = name in accepted
        given = ({"column": name}, {"accepted": is_accepted})
        found.append(_columns_check(IDENTIFIER, no_identifier(name), int(not is_accepted), rows, *given))
    return tuple(found)


def columns_check(unnamed: Sequence[str], rows: int | None) -> Check:
    """The check that every column has a role.

    Example:
        >>> columns_check(["bmi"], 7).status.value, columns_check([], 7).status.value
        ('fail', 'pass')
    """
    return _columns_check(COLUMNS_NAMED, ALL_NAMED, len(unnamed), rows, {}, {"columns": list(unnamed)})


def _columns_check(
    name: str, text: str, columns: int, rows: int | None, parameters: Mapping[str, Any], details: Mapping[str, Any]
) -> Check:
    """The check that no column is at fault; where some are, every row falls short."""
    short = rows if columns else 0
    return Check(
        model=name,
        sensitive=None,
        parameters=parameters,
        level=columns,
        levels={"columns": columns},
        operator="<=",
        required=0,
        status=Status.FAIL if columns else Status.PASS,
        failing_rows=short,
        failing_share=_share(short, rows),
        text=text,
        details=details,
    )


def _share(short: int | None, rows: int | None) -> float | None:
    return short / rows if rows and short is not None else None


# How a check is said in words.

WORDS = {">=": "at least", "<=": "at most", "<": "below", ">": "above"}
_SIGNS = {">=": "≥", "<=": "≤"}
_TITLES = {
    "k_anonymity": "k-anonymity",
    "alpha_k_anonymity": "(α,k)-anonymity",
    "basic_beta_likeness": "Basic β-likeness",
    "enhanced_beta_likeness": "Enhanced β-likeness",
    "delta_disclosure": "δ-disclosure privacy",
}
VERDICTS: dict[Status | None, doc.Toned] = {
    Status.PASS: doc.Toned("holds", "good"),
    Status.FAIL: doc.Toned("FAILS", "bad"),
    Status.WARN: doc.Toned("warns", "warn"),
    Status.UNDETERMINED: doc.Toned("undetermined", "warn"),
    None: doc.Toned("–", "quiet"),
}
_OPENINGS: dict[Status | None, tuple[str, doc.Tone]] = {
    Status.PASS: ("Holds: ", "good"),
    Status.FAIL: ("FAILS: ", "bad"),
    Status.WARN: ("Warns: ", "warn"),
}


def title_of(check: Check) -> str:
    """The model's name for people."""
    if check.title or check.model in _TITLES:
        return check.title or _TITLES[check.model]
    words = check.model.replace("_l_diversity", " l-diversity").replace("t_closeness", "t-closeness")
    words = words.replace("_", " ")
    return words[:1].upper() + words[1:] if not words.startswith("t-") else words


def full_title(check: Check) -> str:
    """The model's name with its parameters: `Recursive (c,l)-diversity (c = 3, l = 2)`."""
    given = parameters(check.parameters)
    return title_of(check) + (f" ({given})" if given else "")


def parameters(given: Mapping[str, Any]) -> str:
    """Parameters as `c = 3, l = 2`."""
    return ", ".join(f"{name} = {parameter(value)}" for name, value in given.items() if value is not None)


def parameter(value: Any) -> str:
    """One parameter: numbers exactly, everything else as its text."""
    return str(value) if isinstance(value, str | bool | Sequence | Mapping) else doc.limit(value)


def level_text(check: Check) -> str:
    """The level with as many digits as the limit beside it asks for."""
    holds = None if check.status is None else check.status is Status.PASS
    return doc.level_against(check.level, check.required, check.operator, holds)


def limit_text(check: Check) -> str:
    """The limit as a table has it: `≥ 5`, empty when nothing was required."""
    if check.required is None:
        return ""
    return f"{_SIGNS.get(check.operator, check.operator)} {doc.limit(check.required)}".strip()


def other_levels(check: Check) -> dict[str, str]:
    """The figures beside the main one, by name; those that say again what stands elsewhere are left out."""
    known = {next(iter(check.levels), ""), "k", *check.parameters}
    others = {name.replace("_", " "): doc.figure(value) for name, value in check.levels.items() if name not in known}
    if check.known_rows is None:
        return others
    one, every = check.known_rows.one.level, check.known_rows.all.level
    return others | {"who knows one row": doc.figure(one), "who knows all rows": doc.figure(every)}


def verdict_of(checks: Iterable[Check]) -> doc.Toned:
    """The verdict on all of these requirements in a few words; one that was checked on several columns is one."""
    grouped: dict[str, list[Check]] = {}
    for check in checks:
        grouped.setdefault(check.text or full_title(check), []).append(check)
    whole = len(grouped)
    for status, word in ((Status.FAIL, "FAIL"), (Status.UNDETERMINED, "UNDETERMINED"), (Status.WARN, "WARNING")):
        found = sum(any(check.status is status for check in several) for several in grouped.values())
        if found:
            subject = "the requirement" if whole == 1 else f"{found} of {whole} requirements"
            fails = "does not hold" if found == 1 else "do not hold"
            fails = "cannot be decided" if status is Status.UNDETERMINED else fails
            fails += ", but only a warning was asked for" if status is Status.WARN else ""
            return doc.Toned(f"{word}: {subject} {fails}", "bad" if status is Status.FAIL else "warn")
    return doc.Toned("PASS: the requirement holds" if whole == 1 else f"PASS: all {whole} requirements hold", "good")


def required_sentence(check: Check, classes: int, rows: int) -> doc.Toned:
    """The verdict on one requirement as a sentence, with what falls short."""
    about = f" for {check.sensitive}" if check.sensitive is not None else ""
    verdict, tone = _OPENINGS.get(check.status, ("Undetermined: ", "warn"))
    if (stated := statement_of(check)) is not None:
        return doc.Toned(verdict + stated, tone)
    said = f"{verdict}{full_title(check)}{about} is {level_text(check)}"
    if check.required is not None:
        wanted = f"{WORDS.get(check.operator, check.operator)} {doc.limit(check.required)}"
        said += f"; {wanted.strip()} is required"
    why = ""
    if check.status is Status.UNDETERMINED and check.note:
        why = f" {check.note[0].upper()}{check.note[1:].rstrip('.')}."
    return doc.Toned(f"{said}.{shortfall(check, classes, rows)}{_for_whom(check)}{why}", tone)


def statement_of(check: Check) -> str | None:
    """The sentence of a check that is about columns and not about a figure; None for the checks of models."""
    if check.model == IDENTIFIER:
        there = f"{check.parameters['column']} is a direct identifier in the table"
        accepted = check.details.get("accepted")
        return f"{there}, which was accepted by its name." if accepted else f"{there}: leave it out, or accept it."
    if check.model == COLUMNS_NAMED:
        names = check.details.get("columns", ())
        verb = "column has" if len(names) == 1 else "columns have"
        return f"{len(names):,} {verb} no role: {doc.listing(names)}." if names else "Every column has a role."
    return None


def shortfall(check: Check, classes: int, rows: int) -> str:
    """` 3 of 10 classes with 7 rows (1.2%) fall short.`, empty when nothing does or nobody counted."""
    if not check.failing_classes or check.status is Status.PASS:
        return ""
    if (persons := check.details.get("persons")) is not None:
        verb = "falls" if check.failing_rows == 1 else "fall"
        few = (
            f"{doc.count(check.failing_rows or 0)} of {doc.plural(persons, 'person')} "
            f"({doc.percent(check.failing_share)})"
        )
        return f" {few} {verb} short."
    verb = "falls" if check.failing_classes == 1 else "fall"
    of_persons = check.known_rows is not None and check.known_rows.worse is KnownRows.ALL
    said = f" {doc.count(check.failing_classes)} of {doc.plural(classes, 'class', 'classes')}"
    said = f" {doc.plural(check.failing_classes, 'class', 'classes')} of persons" if of_persons else said
    if check.failing_rows is not None:
        said += f" with {doc.plural(check.failing_rows, 'row')} ({doc.percent(_share_of(check, rows))})"
    return f"{said} {verb} short."


def short_cell(check: Check, rows: int) -> str:
    """What falls short, as a table has it: `640 (9.0%)`."""
    if check.failing_rows is None:
        return ""
    return f"{doc.count(check.failing_rows)} ({doc.percent(_share_of(check, rows))})" if check.failing_rows else "0"


def _share_of(check: Check, rows: int) -> float | None:
    return check.failing_share if check.failing_share is not None else _share(check.failing_rows, rows)


def _for_whom(check: Check) -> str:
    """The levels for who knows one row of a person, and for who knows all; empty where both are the same question."""
    both = check.known_rows
    if both is None:
        return ""
    one, every = (level_text(replace(check, level=of.level, status=of.status)) for of in (both.one, both.all))
    return f" Who knows one row of a person: {one}; who knows all rows: {every}."


# The list of privacy models, and the page of one.

Entry = Mapping[str, Any]


def catalogue_document(
    models: Sequence[Entry], presets: Sequence[Entry], rules: Sequence[Entry] = (), series: Sequence[Entry] = ()
) -> doc.Document:
    """All models in a table, the rules for cells of published tables, those for several releases, and the presets.

    Args:
        models: entries as `sqlaudit models --format json` has them. presets: name, requirements and source of each.
    """
    rows = ((one["name"], f"{', '.join(one['requirements'])}. {one['source']}.") for one in presets)
    return doc.Document(
        "Privacy models",
        (doc.Paragraph("Require one by its name or short form: --require k=5. `sqlaudit models NAME` explains one."),),
        (
            *doc.section("Models", doc.Facts(tuple(_line(entry) for entry in models))),
            *doc.section("Rules for cells, for sqlaudit aggregates", doc.Facts(tuple(_line(entry) for entry in rules))),
            *doc.section(
                "For several releases, for sqlaudit releases", doc.Facts(tuple(_line(entry) for entry in series))
            ),
            *doc.section("Published rules, for --preset", doc.Facts(tuple(rows))),
        ),
    )


def model_document(entry: Entry) -> doc.Document:
    """What one model means, where it comes from, how to require it and what it needs."""
    names = ", ".join([entry["name"], *entry["short_forms"]])
    facts = (
        ("name", names),
        ("require it", example(entry)),
        ("holds when level is", f"{WORDS.get(entry['operator'], entry['operator'])} the limit"),
        *_about(entry),
        ("source", entry["reference"]),
    )
    parameters: list[tuple[str, doc.Words]] = []
    for item in entry["parameters"]:
        default = "" if item["default"] is None else f", {parameter(item['default'])} when not given"
        parameters.append((item["name"], f"{item['help']} ({item['kind']}{default})"))
    note = (doc.Paragraph(entry["note"]),) if entry["note"] else ()
    return doc.Document(
        entry["title"],
        (doc.Paragraph(entry["definition"]), *note, doc.Facts(facts)),
        doc.section("Parameters", doc.Facts(tuple(parameters))),
    )


def _about(entry: Entry) -> tuple[tuple[str, str], ...]:
    if entry["of_cells"]:
        return (("judged by", "sqlaudit aggregates, cell by cell"),)
    if entry["of_releases"]:
        return (("judged by", "sqlaudit releases, several releases together"), ("needs", _needs(entry)))
    needs = ("needs", _needs(entry) or "nothing but quasi-identifiers")
    return needs, ("when classes merge", _merging(entry))


def example(entry: Entry) -> str:
    """A requirement as one would write it, with letters for numbers."""
    name = entry["short_forms"][0] if entry["short_forms"] else entry["name"]
    parameters = [item["name"] for item in entry["parameters"]]
    if len(parameters) > 1:
        return f"--require {name}={','.join(f'{parameter}:…' for parameter in parameters)}"
    return f"--require {name}=…"


def _line(entry: Entry) -> tuple[str, str]:
    short = f" ({entry['short_forms'][0]})" if entry["short_forms"] else ""
    needs = _needs(entry)
    return entry["name"] + short, entry["definition"] + (f" Needs {needs}." if needs else "")


def _needs(entry: Entry) -> str:
    needed = ["a sensitive column"] if entry["needs_sensitive"] else []
    needed += ["a person column (--entity)"] if entry["needs_entity"] else []
    needed += ["ordered values"] if entry["needs_order"] else []
    return doc.listing([*needed, *(f"{need} (--inputs)" for need in entry["needs"])])


def _merging(entry: Entry) -> str:
    if not entry["stays_when_classes_merge"]:
        return "may be lost when quasi-identifiers are coarsened"
    also = ", also with a suppression limit" if entry["stays_with_suppression_limit"] else ""
    return f"stays true when quasi-identifiers are coarsened{also}"
