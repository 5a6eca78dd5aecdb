"""The requirements of a table as a policy writes them: `k=5`, `k: 5` with options, presets, limits on column sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from glob import has_magic
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import OutOfRange, UnknownColumn, UsageError
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


def key_of(option: Option) -> Key:
    """The JSON Schema of a key that is an option; a policy has keys where the help page speaks of options."""
    takes = {"enum": list(option.kind.words)} if option.kind.words else _KINDS.get(option.kind.name, TEXT)
    least = {} if option.least is None else {"minimum": option.least}
    return takes | least | {"description": option.help.replace("--", "")}


# Rules for the cells of a published table, as a policy writes them.

AGGREGATES = "aggregates"
CELL_OPTIONS = {
    option.name: option for _, option in options_of(AggregatesRequest) if option.section in (CELLS, ROWS, TOTALS)
}
"""What a policy says of a table; nothing there hides or writes cells."""
SHOWN = "show_cells"
PRESET = "preset"
OTHERS = "before", "linked"
"""Further tables."""
CELL_KEYS: Keys = {
    **{name: key_of(option) for name, option in CELL_OPTIONS.items()},
    "before": described("Older releases: of the same connection, or files.", TEXT_OR_TEXTS),
    "linked": described("Further tables of the same people, judged together with this one.", TEXT_OR_TEXTS),
    SHOWN: described("Name unsafe cells by their dimensions in reports.", YES_OR_NO),
    "require": described(f"Rules for cells: {', '.join(CELL_RULES)}.", SOME_TEXTS),
    PRESET: described("Published rules for cells; `sqlaudit models --presets` lists them.", SOME_TEXTS),
}


def read_cells(section: PolicySection, connection: str, folder: Path) -> tuple[CellLimit, ...]:
    """The rules in a section, none after a mistake.

    Args:
        section: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    if "require" not in section and PRESET not in section:
        sentence = "aggregates needs 'require' or 'preset': rules for cells, such as threshold=5."
        section.mistakes.add(section.node, sentence)
        return ()
    options = section.take_options(AggregatesRequest, *CELL_OPTIONS, values=text, negative=text)
    show_cells = section.take(SHOWN, flag, False)
    if not options.get("hierarchies", CODES).endswith(CODES):
        options["hierarchies"] = str(folder / options["hierarchies"])
    before, linked = (
        tuple(_other_table(name, connection, folder, patterns=True) for name in section.take(key, texts, ()))
        for key in OTHERS
    )
    rules, published = section.take("require", texts, ()), section.take(PRESET, texts, ())
    if section.mistakes:
        return ()
    try:
        request = request_from(AggregatesRequest, options, show_values=show_cells)
        required = [
            requirement for rule in rules for requirement in parse_requirements("".join(rule.split()), among=CELL_RULES)
        ]
        required += [requirement for requirement in presets.of_cells(published) if requirement not in required]
        return tuple(
            CellLimit(replace(request, requirements=(requirement,)), before, linked) for requirement in required
        )
    except UsageError as error:
        section.mistakes.keep(error, section.node)
        return ()


def _other_table(name: str, connection: str, folder: Path, *, patterns: bool = False) -> Target:
    """A further table: of the connection, or a file, which is looked for beside the policy first."""
    is_beside_policy = not connection and (exists(folder / name) or (patterns and has_magic(name)))
    return Target(relation=str(folder / name) if is_beside_policy else name, label=name)


def cells_text(limit: CellLimit) -> str:
    """A rule for cells, the same text however it was written.

    Example:
        >>> rules = parse_requirements("threshold=5", among=CELL_RULES)
        >>> cells_text(CellLimit(AggregatesRequest(by=("region", "month"), count="n", requirements=rules)))
        'aggregates=threshold=5,by:region+month,count:n'
    """
    return f"{AGGREGATES}=" + ",".join(_parts(limit))


def _parts(limit: CellLimit) -> Iterator[str]:
    """Yield the parts of the text of a rule for cells: the rule, then every option that is not the default."""
    request = limit.request
    yield request.requirements[0].text
    for name, option in CELL_OPTIONS.items():
        value = getattr(request, name)
        if value and value != option.default:
            value = Path(value).name if name == "hierarchies" else value  # not where it lies on this machine
            option_text = "yes" if value is True else value if isinstance(value, str) else "+".join(value)
            yield f"{name}:{option_text}"
    for key, tables in zip(OTHERS, (limit.before, limit.linked), strict=True):
        if tables:
            yield f"{key}:" + "+".join(table.name for table in tables)


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


def read_loss(section: PolicySection, connection: str, folder: Path) -> tuple[LossLimit, ...]:
    """The limit in a section, none where it lacks a key.

    Args:
        section: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    missing = [key for key in ("original", "measure") if key not in section]
    if missing or ("at_most" in section) == ("at_least" in section):
        lacking = " and ".join(missing) or "one of at_most and at_least"
        section.mistakes.add(section.node, f"loss needs {lacking}.")
        return ()
    at_least = "at_least" in section
    bound = "at_least" if at_least else "at_most"
    original = section.take("original", text, "?")
    hierarchies = section.take("hierarchies", text, "")
    loss = LossLimit(
        original=_other_table(original, connection, folder),
        measure=section.take("measure", choice, "", OF_RELEASES),
        limit=section.take(bound, number, Fraction(0)),
        at_least=at_least,
        figure=section.take("of", choice, FIGURES[0], FIGURES),
        column=section.take("column", text, None),
        hierarchies=str(folder / hierarchies) if hierarchies else "",
        **section.take_options(CompareRequest, "key", "by_position", "distance"),
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
    """Refuse a limit on a loss that does not fit the table's roles.

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
        raise UnknownColumn(f"{loss.column!r} is not a quasi-identifier of this table.")
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


def read_series(section: PolicySection, connection: str, folder: Path) -> tuple[SeriesLimit, ...]:
    """The limit in a section, none where it lacks a key.

    Args:
        section: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    missing = [key for key in ("m", "before") if key not in section]
    if missing:
        sentence = f"{M_INVARIANCE} needs {' and '.join(missing)}: the limit, and all older releases of this table."
        section.mistakes.add(section.node, sentence)
        return ()
    before = section.take("before", texts, ())
    limit = SeriesLimit(
        section.take("m", whole, 1),
        tuple(_other_table(name, connection, folder) for name in before),
        section.take("entity", text, ""),
        section.take("counterfeits", flag, False),
    )
    return (limit,)


def series_text(limit: SeriesLimit) -> str:
    """A limit on several releases, the same text however it was written.

    Example:
        >>> series_text(SeriesLimit(3, (Target("may", label="may"), Target("june", label="june"))))
        'm_invariance=m:3,before:may+june'
    """
    more = (f",entity:{limit.entity}" if limit.entity else "") + (",counterfeits:yes" if limit.counterfeits else "")
    return f"{M_INVARIANCE}=m:{limit.m},before:{'+'.join(release.name for release in limit.before)}{more}"


def check_series(limit: SeriesLimit, roles: Roles) -> None:
    """Refuse a limit on a series of releases that does not fit the table's roles.

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


def read_synthetic(section: PolicySection, connection: str, folder: Path) -> tuple[SyntheticLimit, ...]:
    """The limits in a section, none where it lacks a key.

    Args:
        section: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    if missing := [key for key in ("original", "require") if key not in section]:
        section.mistakes.add(section.node, f"{SYNTHETIC} needs {' and '.join(missing)}.")
        return ()
    holdout, hierarchies = section.take("holdout", text, ""), section.take("hierarchies", text, "")
    base = SyntheticLimit(
        original=_other_table(section.take("original", text, "?"), connection, folder),
        requirement=None,
        holdout=_other_table(holdout, connection, folder) if holdout else None,
        hierarchies=str(folder / hierarchies) if hierarchies else "",
        known=section.take("known", whole, 0),
    )
    try:
        texts_of = ("".join(written.split()) for written in section.take("require", texts, ()))
        required = [
            requirement for written in texts_of for requirement in parse_requirements(written, among=OF_SYNTHETIC)
        ]
    except UsageError as error:
        section.mistakes.keep(error, section.node)
        return ()
    return tuple(replace(base, requirement=requirement) for requirement in required)


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
    """Refuse a limit on a synthetic table that does not fit the table's roles.

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
        raise OutOfRange(f"'known' is at most 3, not {limit.known}.")
    if model.needs_holdout and limit.holdout is None:
        raise UsageError(f"{model.name!r} needs people who were not used: name their table under 'holdout'.")


# HIPAA's Safe Harbor, as a policy writes it: `preset: hipaa-safe-harbor`, or with its details.

HARBOR_KEYS: Keys = keys_of(SafeHarbor)


def read_harbor(section: PolicySection, _: str, folder: Path) -> tuple[SafeHarborLimit, ...]:
    """The limit in a section; its file is looked for beside the policy."""
    details = section.take_options(SafeHarbor)
    if "zip_areas" in details:
        details["zip_areas"] = folder / details["zip_areas"]
    return (SafeHarborLimit(SafeHarbor(**details)),)


def harbor_text(limit: SafeHarborLimit) -> str:
    """The check, the same text however it was written.

    Example:
        >>> harbor_text(SafeHarborLimit()), harbor_text(SafeHarborLimit(SafeHarbor(Path("a/zips.csv"), ("visit",))))
        ('safe_harbor', 'safe_harbor=zip_areas:zips.csv,reviewed:visit')
    """
    details = limit.request
    parts = [f"zip_areas:{details.zip_areas.name}"] if details.zip_areas else []
    parts += [f"reviewed:{'+'.join(details.reviewed)}"] if details.reviewed else []
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
    tests: list[TestSpec] = []
    for item in _flat(node):
        mistakes = Mistakes()
        for test in mistakes.attempt(_tests, item, (), common, roles):
            tests += _unless_said(test, tests)
        if mistakes:
            tests += _unless_said(_broken(item, mistakes, common), tests)
    return tests


def _unless_said(test: TestSpec, tests: Sequence[TestSpec]) -> list[TestSpec]:
    """The test, unless an earlier one is the same; one that only differs in its options is a mistake."""
    twin = next(
        (other for other in tests if (other.requirement, other.sensitive) == (test.requirement, test.sensitive)), None
    )
    if twin is None or test.mistake:
        return [test]
    if replace(test, place=twin.place) == twin:
        return []
    sentence = f"{test.requirement!r} also stands in line {twin.place.line}, with other options; keep one."
    return [replace(test, requirement=f"{test.requirement} (again)", model=None, limit=None, mistake=sentence)]


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
    sentences = " ".join(mistake.message for mistake in mistakes)
    return _test_of(item, common, item.value if isinstance(item.value, str) else called, sentences)


_NOTHING = "this requires nothing, so nothing would be tested. Write for example k=5."


def _tests(item: Node, common: Common, roles: Roles) -> list[TestSpec]:
    """Read the tests of one item of a list of requirements; a broken test if it has mistakes."""
    if item.value == []:
        raise item.fail(_NOTHING)
    if not item.is_mapping:
        written = "".join(item.text("a requirement").split())
        models = parse_requirements(written)
        return [
            _checked(replace(_test_of(item, common, requirement.text), model=requirement), roles)
            for requirement in models
        ]
    pairs = item.pairs("a requirement")
    subjects = [(key, value) for key, value in pairs if key.value not in OPTIONS]
    if len(subjects) != 1:
        raise item.fail(_one_subject([str(key.value) for key, _ in subjects]))
    mistakes = Mistakes()
    base = _options(PolicySection(item, mistakes, children(item)), common, roles)
    key, value = subjects[0]
    tests = [replace(base, place=place_of(key), **fields) for fields in _subject(key, value, mistakes, common)]
    if not tests and not mistakes:
        mistakes.add(item, _NOTHING)
    if mistakes:
        return [_broken(item, mistakes, common)]
    return [_checked(test, roles) for test in tests]


def _one_subject(names: Sequence[str]) -> str:
    if not names:
        return "a requirement is missing beside its options. Write for example k: 5."
    if unknown := [name for name in names if not _is_subject(name)]:
        words = (*OPTIONS, *(short for model in REGISTRY.values() for short in (*model.short_forms, model.name)))
        return f"there is no option or privacy model {unknown[0]!r}.{closest(unknown[0], words)}"
    return f"{' and '.join(map(repr, names))} are in one requirement. Write each as its own item."


def _is_subject(name: str) -> bool:
    try:
        return name in (*LIMITS, PRESET) or bool(find_model(name.partition("@")[0]).name)
    except UsageError:
        return False


def _options(section: PolicySection, common: Common, roles: Roles) -> TestSpec:
    """A test with the options that stand beside its requirement, which is not read yet."""
    mistakes = section.mistakes
    severity = section.take("severity", choice, common.severity, SEVERITIES)
    warn_if, error_if = section.take("warn_if", threshold, None), section.take("error_if", threshold, None)
    if error_if is not None and severity == "warn":
        mistakes.add(section["error_if"], "error_if and severity: warn exclude each other.")
    if warn_if is not None and error_if is None and severity == "error":
        sentence = "warn_if alone changes nothing: any row is an error. Write severity: warn, or an error_if beside it."
        mistakes.add(section["warn_if"], sentence)
    sensitive = section.take("sensitive", texts, (), what="'sensitive'")
    if unknown := [name for name in sensitive if name not in roles.sensitive]:
        hint = closest(unknown[0], roles.sensitive)
        mistakes.add(section["sensitive"], f"{unknown[0]!r} is no sensitive column of this table.{hint}")
    return TestSpec(
        "",
        place_of(section.node),
        severity=severity,
        warn_if=warn_if,
        error_if=error_if,
        sensitive=sensitive,
        tags=tuple(dict.fromkeys((*common.tags, *section.take("tags", texts, ())))),
        owner=section.take("owner", text, common.owner),
        description=section.take("description", text, ""),
    )


def _subject(key: Node, value: Node, mistakes: Mistakes, common: Common) -> list[dict[str, Any]]:
    """Return what a requirement's key and value add to its options: one requirement, or those of a preset."""
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
        required = presets.of_rows([preset])
    else:
        required = (_model(name, value),)
    return [{"requirement": requirement.text, "model": requirement} for requirement in required]


def _model(name: str, value: Node) -> Requirement:
    if value.is_mapping:
        parameters = {
            key.text("a parameter"): parameter.text("a parameter's value") for key, parameter in value.pairs(name)
        }
        return requirement_from(name, parameters)
    find_model(name.partition("@")[0])
    return requirement_from(name, value.text(f"the limit of {name}").strip())


def _column_limit(section: PolicySection, *_: object) -> tuple[ColumnLimit, ...]:
    """Read the limit of column sets."""
    if "max_size" not in section:
        raise section.node.fail("column_sets needs max_size, the largest number of columns that an attacker knows.")
    max_size, k, allowed = (
        section.take("max_size", whole, 1),
        section.take("k", whole, 5),
        section.take("share", share, 0),
    )
    one_word = "among" in section and isinstance(section["among"].value, str)
    among = section.take("among", choice, "", _AMONG) if one_word else section.take("among", texts, _AMONG[0])
    return (ColumnLimit(max_size, k, Fraction(allowed), among, section.take("exclude", texts, ())),)


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
