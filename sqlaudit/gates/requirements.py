"""The requirements of a table as a policy writes them: `k=5`, `k: 5` with options, presets, limits on column sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from glob import has_magic
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import exists
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node
from sqlaudit.base.options import (
    DELIMITER,
    FLAG,
    NAMES,
    ORDERED,
    SHARE,
    SWITCH,
    TEXTS,
    WHOLE,
    Option,
    options_of,
    request_from,
)
from sqlaudit.base.spec import Requirement, Roles, SafeHarbor, Target
from sqlaudit.gates.nodes import (
    Mistakes,
    PolicySection,
    children,
    choice,
    flag,
    number,
    place_of,
    share,
    text,
    texts,
    threshold,
    whole,
)
from sqlaudit.gates.result import (
    CellLimit,
    ColumnLimit,
    Limit,
    LossLimit,
    SafeHarborLimit,
    SeriesLimit,
    SyntheticLimit,
    TestSpec,
)
from sqlaudit.models import presets
from sqlaudit.models.base import COLUMN_SETS, SAFE_HARBOR
from sqlaudit.models.measures import OF_RELEASES
from sqlaudit.models.registry import (
    CELL_RULES,
    OF_SYNTHETIC,
    REGISTRY,
    find_model,
    parse_requirements,
    requirement_from,
)
from sqlaudit.models.releases import MInvariance
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.reports.document import limit as exact
from sqlaudit.tabular.request import CELLS, CODES, ROWS, TOTALS, AggregatesRequest

# Keys of a policy, as the reader of each section lists them: what each takes, as JSON Schema, and what it says.
#
# A section's keys are one mapping beside its reader: what the reader knows and the schema for editors both come from
# it. Keys that say the same as options take all of it from the fields of the request.

Key = dict[str, Any]
"""What a key takes."""
Keys = Mapping[str, Key]
"""The keys of a section in the order in which they are told."""
TEXT: Key = {"type": "string", "minLength": 1}
TEXTS_OF_IT: Key = {"type": "array", "items": TEXT}
TEXT_OR_TEXTS: Key = {"$ref": "#/$defs/texts"}
SOME_TEXTS: Key = {"oneOf": [TEXT, TEXTS_OF_IT | {"minItems": 1}]}
COLUMN_LIST: Key = {"$ref": "#/$defs/columns"}
YES_OR_NO: Key = {"type": "boolean"}
POSITIVE: Key = {"type": "integer", "minimum": 1}
LIMIT: Key = {"$ref": "#/$defs/number"}
READ: Key = {"$ref": "#/$defs/read"}
REQUIREMENTS: Key = {"$ref": "#/$defs/requirements", "description": "Requirements."}
SEVERITIES = ("error", "warn")
SEVERITY: Key = {"enum": list(SEVERITIES), "description": "error: the test blocks publication, warn: it does not."}
TAGS: Key = TEXT_OR_TEXTS | {"description": "For --select tag:…"}
OWNER: Key = TEXT | {"description": "Person responsible for the table."}
DERIVED_FROM: Key = TEXT_OR_TEXTS | {"description": "Names of tables from which this one is made, for --select name+"}
_KINDS: Mapping[str, Key] = {
    DELIMITER.name: {"type": "string"},
    **dict.fromkeys((FLAG.name, SWITCH.name), YES_OR_NO),
    **dict.fromkeys((NAMES.name, ORDERED.name, TEXTS.name), TEXT_OR_TEXTS),
    SHARE.name: {"type": ["number", "string"]},
    WHOLE.name: {"type": "integer"},
}


def described(description: str, takes: Key = TEXT) -> Key:
    """A key that says what it is; a text, unless it takes something else."""
    return takes | {"description": description}


def keys_of(request: type[Any], *names: str) -> dict[str, Key]:
    """The JSON Schema of keys that are fields of a request.

    Args:
        request: the dataclass. names: of its fields, as the policy has them; empty = every option.

    Example:
        >>> from sqlaudit.base.spec import Coverage
        >>> keys_of(Coverage, "all_columns_named")
        {'all_columns_named': {'type': 'boolean', 'description': 'Fail if a column has no role.'}}
    """
    options = dict(options_of(request))
    return {name: key_of(options[name]) for name in names or options}


def key_of(one: Option) -> Key:
    """The JSON Schema of a key that is an option; a policy has keys where the help page speaks of options."""
    takes = {"enum": list(one.kind.words)} if one.kind.words else _KINDS.get(one.kind.name, TEXT)
    least = {} if one.least is None else {"minimum": one.least}
    return takes | least | {"description": one.help.replace("--", "")}


# Rules for the cells of a published table, as a policy writes them.

AGGREGATES = "aggregates"
CELL_OPTIONS = {one.name: one for _, one in options_of(AggregatesRequest) if one.section in (CELLS, ROWS, TOTALS)}
"""What a policy says of a table; nothing there hides or writes cells."""
SHOWN = "show_cells"
PRESET = "preset"
OTHERS = "before", "linked"
"""Further tables."""
CELL_KEYS: Keys = {
    **{name: key_of(one) for name, one in CELL_OPTIONS.items()},
    "before": described("Older releases: of the same connection, or files.", TEXT_OR_TEXTS),
    "linked": described("Further tables of the same people, judged together with this one.", TEXT_OR_TEXTS),
    SHOWN: described("Name unsafe cells by their dimensions in reports.", YES_OR_NO),
    "require": described(f"Rules for cells: {', '.join(CELL_RULES)}.", SOME_TEXTS),
    PRESET: described("Published rules for cells; `sqlaudit models --presets` lists them.", SOME_TEXTS),
}


def read_cells(found: PolicySection, connection: str, folder: Path) -> tuple[CellLimit, ...]:
    """The rules in a section, none after a mistake.

    Args:
        found: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    if "require" not in found and PRESET not in found:
        said = "aggregates needs 'require' or 'preset': rules for cells, such as threshold=5."
        found.mistakes.add(found.node, said)
        return ()
    given = found.take_options(AggregatesRequest, *CELL_OPTIONS, values=text, negative=text)
    shown = found.take(SHOWN, flag, False)
    if not given.get("hierarchies", CODES).endswith(CODES):
        given["hierarchies"] = str(folder / given["hierarchies"])
    before, linked = (
        tuple(_other_table(name, connection, folder, patterns=True) for name in found.take(key, texts, ()))
        for key in OTHERS
    )
    rules, published = found.take("require", texts, ()), found.take(PRESET, texts, ())
    if found.mistakes:
        return ()
    try:
        request = request_from(AggregatesRequest, given, show_values=shown)
        wanted = [one for rule in rules for one in parse_requirements("".join(rule.split()), among=CELL_RULES)]
        wanted += [one for one in presets.of_cells(published) if one not in wanted]
        return tuple(CellLimit(replace(request, requirements=(one,)), before, linked) for one in wanted)
    except UsageError as error:
        found.mistakes.keep(error, found.node)
        return ()


def _other_table(name: str, connection: str, folder: Path, *, patterns: bool = False) -> Target:
    """A further table: of the connection, or a file, which is looked for beside the policy first."""
    beside = not connection and (exists(folder / name) or (patterns and has_magic(name)))
    return Target(relation=str(folder / name) if beside else name, label=name)


def cells_text(limit: CellLimit) -> str:
    """A rule for cells, the same text however it was written.

    Example:
        >>> rules = parse_requirements("threshold=5", among=CELL_RULES)
        >>> cells_text(CellLimit(AggregatesRequest(by=("region", "month"), count="n", requirements=rules)))
        'aggregates=threshold=5,by:region+month,count:n'
    """
    return f"{AGGREGATES}=" + ",".join(_parts(limit))


def _parts(limit: CellLimit) -> Iterator[str]:
    request = limit.request
    yield request.requirements[0].text
    for name, one in CELL_OPTIONS.items():
        value = getattr(request, name)
        if value and value != one.default:
            value = Path(value).name if name == "hierarchies" else value  # not where it lies on this machine
            shown = "yes" if value is True else value if isinstance(value, str) else "+".join(value)
            yield f"{name}:{shown}"
    for key, tables in zip(OTHERS, (limit.before, limit.linked), strict=True):
        if tables:
            yield f"{key}:" + "+".join(one.name for one in tables)


# Limits on what a release may lose against its original, as a policy writes them.

LOSS = "loss"
FIGURES = ("value", "mean", "share")
LOSS_KEYS: Keys = {
    "original": described("The original table: of the same connection, or a file."),
    "measure": {"enum": list(OF_RELEASES), "description": "As for sqlaudit compare."},
    "of": {
        "enum": list(FIGURES),
        "description": "The value, its mean, or its share of the loss of complete suppression.",
    },
    "at_most": LIMIT,
    "at_least": LIMIT,
    "column": described("One quasi-identifier. Default: all together."),
    **keys_of(CompareRequest, "key", "by_position"),
    "hierarchies": described("A file or folder. Default: those of the inputs."),
    **keys_of(CompareRequest, "distance"),
}


def read_loss(found: PolicySection, connection: str, folder: Path) -> tuple[LossLimit, ...]:
    """The limit in a section, none where it lacks a key.

    Args:
        found: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    missing = [key for key in ("original", "measure") if key not in found]
    if missing or ("at_most" in found) == ("at_least" in found):
        said = " and ".join(missing) or "one of at_most and at_least"
        found.mistakes.add(found.node, f"loss needs {said}.")
        return ()
    at_least = "at_least" in found
    bound = "at_least" if at_least else "at_most"
    original = found.take("original", text, "?")
    hierarchies = found.take("hierarchies", text, "")
    loss = LossLimit(
        original=_other_table(original, connection, folder),
        measure=found.take("measure", choice, "", OF_RELEASES),
        limit=found.take(bound, number, Fraction(0)),
        at_least=at_least,
        figure=found.take("of", choice, FIGURES[0], FIGURES),
        column=found.take("column", text, None),
        hierarchies=str(folder / hierarchies) if hierarchies else "",
        **found.take_options(CompareRequest, "key", "by_position", "distance"),
    )
    return (loss,)


def loss_text(loss: LossLimit) -> str:
    """A limit on a loss, the same text however it was written.

    Example:
        >>> loss_text(LossLimit(Target("raw", label="raw"), "entropy", Fraction(1, 2), figure="share"))
        'loss=measure:entropy,of:share,at_most:0.5,original:raw'
    """
    parts = [f"measure:{loss.measure}"] + ([f"of:{loss.figure}"] if loss.figure != FIGURES[0] else [])
    parts += [f"column:{loss.column}"] if loss.column else []
    limit = str(loss.limit) if loss.limit.denominator == 1 else exact(loss.limit)
    parts.append(f"{'at_least' if loss.at_least else 'at_most'}:{limit}")
    return f"{LOSS}={','.join(parts)},original:{loss.original.name}"


def check_loss(loss: LossLimit, roles: Roles) -> None:
    """Nothing, when a limit fits the table's roles.

    Raises:
        UsageError: it does not; said before anything is connected.
    """
    measure = OF_RELEASES[loss.measure]
    if not roles.quasi_identifiers:
        raise UsageError("a loss needs quasi-identifiers: name them under 'quasi_identifiers'.")
    if measure.sensitive and not roles.sensitive:
        raise UsageError(f"the loss {loss.measure!r} needs a sensitive column: name one under 'sensitive'.")
    if loss.key and loss.by_position:
        raise UsageError("'key' and 'by_position' exclude each other. Keep one.")
    if loss.column is not None and loss.column not in roles.quasi_identifiers:
        raise UsageError(f"{loss.column!r} is not a quasi-identifier of this table.")
    if measure.complement is not loss.at_least:
        better, bound = ("better", "at_least") if measure.complement else ("worse", "at_most")
        raise UsageError(f"the measure {loss.measure!r} is {better} when it is higher; write {bound}.")


# What a table and its older releases must say together, as a policy writes it.

M_INVARIANCE = MInvariance.name
SERIES_KEYS: Keys = {
    "m": described("Minimum rows of a class, all with different sensitive values.", POSITIVE),
    "before": described("All older releases of this table: of the same connection, or files.", TEXT_OR_TEXTS),
    "entity": described("The column that identifies the person, if the table has no 'entity'."),
    "counterfeits": described("Rows without an entity are counterfeits.", YES_OR_NO),
}


def read_series(found: PolicySection, connection: str, folder: Path) -> tuple[SeriesLimit, ...]:
    """The limit in a section, none where it lacks a key.

    Args:
        found: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    missing = [key for key in ("m", "before") if key not in found]
    if missing:
        said = f"{M_INVARIANCE} needs {' and '.join(missing)}: the limit, and all older releases of this table."
        found.mistakes.add(found.node, said)
        return ()
    before = found.take("before", texts, ())
    limit = SeriesLimit(
        found.take("m", whole, 1),
        tuple(_other_table(name, connection, folder) for name in before),
        found.take("entity", text, ""),
        found.take("counterfeits", flag, False),
    )
    return (limit,)


def series_text(limit: SeriesLimit) -> str:
    """A limit on several releases, the same text however it was written.

    Example:
        >>> series_text(SeriesLimit(3, (Target("may", label="may"), Target("june", label="june"))))
        'm_invariance=m:3,before:may+june'
    """
    more = (f",entity:{limit.entity}" if limit.entity else "") + (",counterfeits:yes" if limit.counterfeits else "")
    return f"{M_INVARIANCE}=m:{limit.m},before:{'+'.join(one.name for one in limit.before)}{more}"


def check_series(limit: SeriesLimit, roles: Roles) -> None:
    """Nothing, when a limit fits the table's roles.

    Raises:
        UsageError: it does not; said before anything is connected.
    """
    if not limit.before:
        raise UsageError(f"{M_INVARIANCE} needs at least one older release under 'before'.")
    if not roles.quasi_identifiers or not roles.sensitive:
        lacking = "quasi_identifiers" if not roles.quasi_identifiers else "sensitive"
        raise UsageError(f"{M_INVARIANCE} needs quasi-identifiers and a sensitive column; name them under {lacking!r}.")
    if not limit.entity and not roles.entity:
        raise UsageError(f"{M_INVARIANCE} needs the column of persons; name it under 'entity'.")


# What a synthetic table may disclose of its original, as a policy writes it.

SYNTHETIC = "synthetic"
SYNTHETIC_KEYS: Keys = {
    "original": described("The table that it was made from: of the same connection, or a file."),
    "holdout": described("People who were not used for it: of the same connection, or a file."),
    "require": described(f"Requirements: {', '.join(OF_SYNTHETIC)}.", SOME_TEXTS),
    **keys_of(CompareRequest, "known"),
    "hierarchies": described("A file or folder: numbers are compared at its first level. Default: as they are."),
}


def read_synthetic(found: PolicySection, connection: str, folder: Path) -> tuple[SyntheticLimit, ...]:
    """The limits in a section, none where it lacks a key.

    Args:
        found: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    if missing := [key for key in ("original", "require") if key not in found]:
        found.mistakes.add(found.node, f"{SYNTHETIC} needs {' and '.join(missing)}.")
        return ()
    holdout, hierarchies = found.take("holdout", text, ""), found.take("hierarchies", text, "")
    base = SyntheticLimit(
        original=_other_table(found.take("original", text, "?"), connection, folder),
        requirement=None,
        holdout=_other_table(holdout, connection, folder) if holdout else None,
        hierarchies=str(folder / hierarchies) if hierarchies else "",
        known=found.take("known", whole, 0),
    )
    try:
        texts_of = ("".join(one.split()) for one in found.take("require", texts, ()))
        wanted = [one for written in texts_of for one in parse_requirements(written, among=OF_SYNTHETIC)]
    except UsageError as error:
        found.mistakes.keep(error, found.node)
        return ()
    return tuple(replace(base, requirement=one) for one in wanted)


def synthetic_text(limit: SyntheticLimit) -> str:
    """A limit on a synthetic table, the same text however it was written.

    Example:
        >>> (wanted,) = parse_requirements("disco=5%", among=OF_SYNTHETIC)
        >>> synthetic_text(SyntheticLimit(Target("raw", label="raw"), wanted, known=2))
        'synthetic=disco=5%,original:raw,known:2'
    """
    assert limit.requirement is not None
    holdout = f",holdout:{limit.holdout.name}" if limit.holdout else ""
    known = f",known:{limit.known}" if limit.known else ""
    hierarchies = f",hierarchies:{Path(limit.hierarchies).name}" if limit.hierarchies else ""
    return f"{SYNTHETIC}={limit.requirement.text},original:{limit.original.name}{holdout}{known}{hierarchies}"


def check_synthetic(limit: SyntheticLimit, roles: Roles) -> None:
    """Nothing, when a limit fits the table's roles.

    Raises:
        UsageError: it does not; said before anything is connected.
    """
    assert limit.requirement is not None
    if not roles.quasi_identifiers:
        raise UsageError("a synthetic table needs quasi-identifiers: name them under 'quasi_identifiers'.")
    model = OF_SYNTHETIC[limit.requirement.model]
    if model.needs_sensitive and not roles.sensitive:
        raise UsageError(f"{limit.requirement.text!r} needs a sensitive column: name one under 'sensitive'.")
    if limit.known > 3:
        raise UsageError(f"'known' is at most 3, not {limit.known}.")
    if model.needs_holdout and limit.holdout is None:
        raise UsageError(f"{model.name!r} needs people who were not used: name their table under 'holdout'.")


# HIPAA's Safe Harbor, as a policy writes it: `preset: hipaa-safe-harbor`, or with its details.

HARBOR_KEYS: Keys = keys_of(SafeHarbor)


def read_harbor(found: PolicySection, _: str, folder: Path) -> tuple[SafeHarborLimit, ...]:
    """The limit in a section; its file is looked for beside the policy."""
    given = found.take_options(SafeHarbor)
    if "zip_areas" in given:
        given["zip_areas"] = folder / given["zip_areas"]
    return (SafeHarborLimit(SafeHarbor(**given)),)


def harbor_text(limit: SafeHarborLimit) -> str:
    """The check, the same text however it was written.

    Example:
        >>> harbor_text(SafeHarborLimit()), harbor_text(SafeHarborLimit(SafeHarbor(Path("a/zips.csv"), ("visit",))))
        ('safe_harbor', 'safe_harbor=zip_areas:zips.csv,reviewed:visit')
    """
    asked = limit.request
    parts = [f"zip_areas:{asked.zip_areas.name}"] if asked.zip_areas else []
    parts += [f"reviewed:{'+'.join(asked.reviewed)}"] if asked.reviewed else []
    return SAFE_HARBOR + (f"={','.join(parts)}" if parts else "")


_CONDITION = {
    "type": "string",
    "pattern": r"^\s*((>=|>)\s*[0-9]+(\.[0-9]+)?\s*(%|rows?)?|!=\s*0\s*(%|rows?)?)\s*$",
    "description": "A condition on the number of failing rows: '> 10' or '> 1%'.",
}
OPTIONS: Keys = {
    "severity": SEVERITY,
    "warn_if": _CONDITION,
    "error_if": _CONDITION,
    "sensitive": described("Only for these sensitive columns.", TEXT_OR_TEXTS),
    "tags": TAGS,
    "owner": OWNER,
    "description": TEXT,
}
"""What may stand beside a requirement; whatever else stands there is the requirement itself."""
_AMONG = ("quasi_identifiers", "all")
COLUMN_KEYS: Keys = {
    "max_size": described("Largest number of columns that an attacker knows.", POSITIVE),
    "k": described("Minimum rows with the same values.", POSITIVE),
    "share": described(
        "A share of the rows: 1% or 0.01.",
        {"oneOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, {"type": "string"}]},
    ),
    "among": {"oneOf": [{"enum": list(_AMONG)}, TEXTS_OF_IT]},
    "exclude": TEXT_OR_TEXTS,
}


@dataclass(frozen=True)
class Common:
    """What tests have unless they say otherwise, from the table or the defaults of the policy; and where they are."""

    severity: str = "error"
    tags: tuple[str, ...] = ()
    owner: str = ""
    folder: Path = Path()
    connection: str = ""


def read_requirements(node: Node, common: Common, roles: Roles) -> list[TestSpec]:
    """The tests of a list of requirements; one that cannot be read becomes a test with its mistake.

    Raises:
        UsageError: it is no list.
    """
    found: list[TestSpec] = []
    for item in _flat(node):
        mistakes = Mistakes()
        for test in mistakes.attempt(_tests, item, (), common, roles):
            found += _unless_said(test, found)
        if mistakes:
            found += _unless_said(_broken(item, mistakes, common), found)
    return found


def _unless_said(test: TestSpec, found: Sequence[TestSpec]) -> list[TestSpec]:
    """The test, unless an earlier one is the same; one that only differs in its options is a mistake."""
    twin = next((one for one in found if (one.requirement, one.sensitive) == (test.requirement, test.sensitive)), None)
    if twin is None or test.mistake:
        return [test]
    if replace(test, place=twin.place) == twin:
        return []
    said = f"{test.requirement!r} also stands in line {twin.place.line}, with other options; keep one."
    return [replace(test, requirement=f"{test.requirement} (again)", model=None, limit=None, mistake=said)]


def column_limit_text(limit: ColumnLimit) -> str:
    """A limit on column sets, the same text however it was written.

    Example:
        >>> column_limit_text(ColumnLimit(3, share=Fraction(1, 100)))
        'column_sets=max_size:3,k:5,share:1%'
    """
    among = "" if limit.among == _AMONG[0] else f",among:{_joined(limit.among)}"
    exclude = f",exclude:{_joined(limit.exclude)}" if limit.exclude else ""
    share = f"{Decimal((limit.share * 100).numerator) / (limit.share * 100).denominator:f}%"
    return f"{COLUMN_SETS}=max_size:{limit.max_size},k:{limit.k},share:{share}{among}{exclude}"


def _joined(names: str | Sequence[str]) -> str:
    return names if isinstance(names, str) else "+".join(names)


def _flat(node: Node) -> Iterator[Node]:
    """The items, also those of lists in the list: an anchored list may be one item."""
    for item in node.items("'requirements'"):
        if isinstance(item.value, list) and item.value and not item.is_mapping:
            yield from _flat(item)
        else:
            yield item


def _test_of(item: Node, common: Common, requirement: str = "", mistake: str = "") -> TestSpec:
    """A test with what holds of all tests of its table."""
    test = TestSpec(requirement, place_of(item), mistake=mistake)
    return replace(test, severity=common.severity, tags=common.tags, owner=common.owner)


def _broken(item: Node, mistakes: Mistakes, common: Common) -> TestSpec:
    """A requirement that could not be read, called by what of it was."""
    called = next((name for name in children(item) if name not in OPTIONS), "requirement")
    said = " ".join(mistake.message for mistake in mistakes)
    return _test_of(item, common, item.value if isinstance(item.value, str) else called, said)


_NOTHING = "this requires nothing, so nothing would be tested. Write for example k=5."


def _tests(item: Node, common: Common, roles: Roles) -> list[TestSpec]:
    if item.value == []:
        raise item.fail(_NOTHING)
    if not item.is_mapping:
        written = "".join(item.text("a requirement").split())
        models = parse_requirements(written)
        return [_checked(replace(_test_of(item, common, one.text), model=one), roles) for one in models]
    pairs = item.pairs("a requirement")
    subjects = [(key, value) for key, value in pairs if key.value not in OPTIONS]
    if len(subjects) != 1:
        raise item.fail(_one_subject([str(key.value) for key, _ in subjects]))
    mistakes = Mistakes()
    base = _options(PolicySection(item, mistakes, children(item)), common, roles)
    key, value = subjects[0]
    found = [replace(base, place=place_of(key), **made) for made in _subject(key, value, mistakes, common)]
    if not found and not mistakes:
        mistakes.add(item, _NOTHING)
    if mistakes:
        return [_broken(item, mistakes, common)]
    return [_checked(test, roles) for test in found]


def _one_subject(names: Sequence[str]) -> str:
    if not names:
        return "a requirement is missing beside its options. Write for example k: 5."
    if unknown := [name for name in names if not _is_subject(name)]:
        known = (*OPTIONS, *(short for model in REGISTRY.values() for short in (*model.short_forms, model.name)))
        return f"there is no option or privacy model {unknown[0]!r}.{closest(unknown[0], known)}"
    return f"{' and '.join(map(repr, names))} are in one requirement. Write each as its own item."


def _is_subject(name: str) -> bool:
    try:
        return name in (*LIMITS, PRESET) or bool(find_model(name.partition("@")[0]).name)
    except UsageError:
        return False


def _options(found: PolicySection, common: Common, roles: Roles) -> TestSpec:
    """A test with the options that stand beside its requirement, which is not read yet."""
    mistakes = found.mistakes
    severity = found.take("severity", choice, common.severity, SEVERITIES)
    warn_if, error_if = found.take("warn_if", threshold, None), found.take("error_if", threshold, None)
    if error_if is not None and severity == "warn":
        mistakes.add(found["error_if"], "error_if and severity: warn exclude each other.")
    if warn_if is not None and error_if is None and severity == "error":
        said = "warn_if alone changes nothing: any row is an error. Write severity: warn, or an error_if beside it."
        mistakes.add(found["warn_if"], said)
    sensitive = found.take("sensitive", texts, (), what="'sensitive'")
    if unknown := [name for name in sensitive if name not in roles.sensitive]:
        hint = closest(unknown[0], roles.sensitive)
        mistakes.add(found["sensitive"], f"{unknown[0]!r} is no sensitive column of this table.{hint}")
    return TestSpec(
        "",
        place_of(found.node),
        severity=severity,
        warn_if=warn_if,
        error_if=error_if,
        sensitive=sensitive,
        tags=tuple(dict.fromkeys((*common.tags, *found.take("tags", texts, ())))),
        owner=found.take("owner", text, common.owner),
        description=found.take("description", text, ""),
    )


def _subject(key: Node, value: Node, mistakes: Mistakes, common: Common) -> list[dict[str, Any]]:
    """What a requirement's key and value add to its options: one requirement, or those of a preset."""
    name = key.text("a requirement's name")
    if name in LIMITS:
        kind = LIMITS[name]
        limits = kind.read(mistakes.section(value, name, kind.keys), common.connection, common.folder)
        return [{"requirement": kind.text(limit), "limit": limit} for limit in limits]
    if name == PRESET:
        preset = value.text(PRESET)
        if preset == SafeHarbor.preset:
            limit = SafeHarborLimit()
            return [{"requirement": harbor_text(limit), "limit": limit}]
        wanted = presets.of_rows([preset])
    else:
        wanted = (_model(name, value),)
    return [{"requirement": one.text, "model": one} for one in wanted]


def _model(name: str, value: Node) -> Requirement:
    if value.is_mapping:
        given = {key.text("a parameter"): one.text("a parameter's value") for key, one in value.pairs(name)}
        return requirement_from(name, given)
    find_model(name.partition("@")[0])
    return requirement_from(name, value.text(f"the limit of {name}").strip())


def _column_limit(found: PolicySection, *_: object) -> tuple[ColumnLimit, ...]:
    if "max_size" not in found:
        raise found.node.fail("column_sets needs max_size, the largest number of columns that an attacker knows.")
    max_size, k, allowed = found.take("max_size", whole, 1), found.take("k", whole, 5), found.take("share", share, 0)
    one_word = "among" in found and isinstance(found["among"].value, str)
    among = found.take("among", choice, "", _AMONG) if one_word else found.take("among", texts, _AMONG[0])
    return (ColumnLimit(max_size, k, Fraction(allowed), among, found.take("exclude", texts, ())),)


def _checked(test: TestSpec, roles: Roles) -> TestSpec:
    """The test, when it fits the table's roles.

    Raises:
        UsageError: it does not; said before anything is connected.
    """
    if test.limit is not None:
        kind = LIMITS[test.requirement.partition("=")[0]]
        kind.check(test.limit, roles)
        _refuse_thresholds(test, kind.counts)
    if test.model is None:
        return test
    model = REGISTRY[test.model.model]
    if model.needs_sensitive and not roles.sensitive:
        raise UsageError(f"{test.requirement!r} needs a sensitive column: name one under 'sensitive'.")
    if not roles.quasi_identifiers:
        raise UsageError(f"{test.requirement!r} needs quasi-identifiers: name them under 'quasi_identifiers'.")
    if model.verdict_by_level:
        _refuse_thresholds(test, f"{test.requirement!r} is about the whole table, which has no failing rows")
    if test.sensitive and not model.needs_sensitive and not roles.joint:
        raise UsageError(f"{test.requirement!r} does not use a sensitive column: leave out 'sensitive'.")
    return test


def _check_columns(limit: ColumnLimit, roles: Roles) -> None:
    if limit.among == _AMONG[0] and not roles.quasi_identifiers:
        raise UsageError("column_sets searches the quasi-identifiers, but the table has none. Add 'among'.")
    if limit.among != _AMONG[0]:  # persons may have further quasi-identifiers
        columns_to_search(limit, roles)


def columns_to_search(limit: ColumnLimit, roles: Roles) -> tuple[str, ...]:
    """The columns that a limit on column sets is about; none where these are all of the table.

    Raises:
        UsageError: every one of them is excluded.
    """
    if limit.among == "all":
        return ()
    named = roles.quasi_identifiers if limit.among == _AMONG[0] else limit.among
    left = tuple(name for name in named if name not in limit.exclude)
    if named and not left:
        raise UsageError("No column is left to search. Exclude fewer.")
    return left


def _refuse_thresholds(test: TestSpec, why: str) -> None:
    if test.warn_if is not None or test.error_if is not None:
        raise UsageError(f"warn_if and error_if count failing rows, but {why}: leave them out.")


@dataclass(frozen=True)
class _LimitKind:
    """A kind of limit besides the privacy models.

    Args:
        keys: of its section. read: the limits in the section. text: of one.
        check: refuses one that does not fit the roles. counts: why no threshold on failing rows stands beside it.
    """

    keys: Keys
    read: Callable[[PolicySection, str, Path], tuple[Limit, ...]]
    text: Callable[[Any], str]
    check: Callable[[Any, Roles], None]
    counts: str


_OF_COLUMNS = "a limit on column sets has its own share"
_OF_IDENTIFIERS = "Safe Harbor is about columns"
_OF_RELEASES = "m-invariance is a figure of all releases together"
_OF_SYNTHETIC_DATA = "what a synthetic table discloses is a figure of the whole table"
LIMITS = {
    COLUMN_SETS: _LimitKind(COLUMN_KEYS, _column_limit, column_limit_text, _check_columns, _OF_COLUMNS),
    LOSS: _LimitKind(LOSS_KEYS, read_loss, loss_text, check_loss, "a loss is a figure of the whole table"),
    AGGREGATES: _LimitKind(CELL_KEYS, read_cells, cells_text, lambda *_: None, "a rule for cells counts cells"),
    SAFE_HARBOR: _LimitKind(HARBOR_KEYS, read_harbor, harbor_text, lambda *_: None, _OF_IDENTIFIERS),
    M_INVARIANCE: _LimitKind(SERIES_KEYS, read_series, series_text, check_series, _OF_RELEASES),
    SYNTHETIC: _LimitKind(SYNTHETIC_KEYS, read_synthetic, synthetic_text, check_synthetic, _OF_SYNTHETIC_DATA),
}
