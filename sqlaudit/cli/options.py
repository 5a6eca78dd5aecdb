"""The options that commands share, each set defined once.

A decorator adds its options to a command and hands the command one object instead of many values:

    @click.command(cls=Sectioned)
    @target_options      # target: Target, db: str | None
    @role_options        # roles: Roles
    @require_options     # asked: Asked
    @limit_options       # limits: Limits
    @work_options        # work: Work
    @output_options      # output: Output
    def command(target, db, roles, asked, limits, work, output): ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from sqlaudit.base.errors import UsageError
from sqlaudit.base.paths import is_folder
from sqlaudit.base.spec import Coverage, Limits, NullPolicy, ReadOptions, Requirement, Roles, Target
from sqlaudit.cli.output import Output, output_for
from sqlaudit.cli.parsing import count_or_all, delimiter, duration, null_values, size, split_list, split_lists
from sqlaudit.cli.sections import in_section, shared
from sqlaudit.reports.formats import FORMATS

_PATH = click.Path(path_type=Path)
FILE_FORMATS = ("csv", "json", "parquet", "arrow")


@dataclass(frozen=True)
class Asked:
    """What must hold, and the further inputs of models."""

    requirements: tuple[Requirement, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """How much of the work is shown: SQL as it runs, or the plan instead of the work."""

    show_sql: bool = False
    dry_run: bool = False
    explain: bool = False


@dataclass(frozen=True)
class FailingOptions:
    """Which failing classes are told: how many (None = all), with their values or without, and into which file.

    `worst`: of how many of the worst classes the distribution is told, None = as many as is usual for the format.
    """

    number: int | None = 10
    show_values: bool = False
    file: Path | None = None
    worst: int | None = None


def _target(
    *,
    name: str | None,
    db: str | None,
    query: str | None,
    where: str | None,
    file_format: str | None,
    separator: str | None,
    encoding: str | None,
    nulls_as: str | None,
    header: bool | None,
    all_text: bool,
    hive: bool,
) -> dict[str, Any]:
    if not name and not query:
        raise UsageError("Name a file, table or view to look at, or give a SELECT with --query.")
    if name and query:
        raise UsageError("Give a table or file, or a --query, not both.")
    if query and where:
        raise UsageError("--where restricts a table or file; put the condition into the --query itself.")
    read = read_options(file_format, separator, encoding, nulls_as, header, all_text, hive)
    return {"target": Target(relation=name or "", query=query or "", where=where or "", read=read), "db": db}


def _several(
    *,
    names: tuple[str, ...],
    db: str | None,
    file_format: str | None,
    separator: str | None,
    encoding: str | None,
    nulls_as: str | None,
    header: bool | None,
    all_text: bool,
    hive: bool,
) -> dict[str, Any]:
    read = read_options(file_format, separator, encoding, nulls_as, header, all_text, hive)
    return {"names": names, "db": db, "read": read}


def read_options(
    file_format: str | None,
    separator: str | None,
    encoding: str | None,
    nulls_as: str | None,
    header: bool | None,
    all_text: bool,
    hive: bool,
) -> ReadOptions:
    """How files are read, from what `read_parameters` were given."""
    return ReadOptions(
        format=file_format or "",
        delimiter=delimiter(separator),
        encoding=encoding or "",
        null_values=null_values(nulls_as),
        all_text=all_text,
        header=header,
        hive_partitioning=hive,
    )


def _roles(
    *,
    qi: tuple[str, ...],
    sensitive: tuple[str, ...],
    identifier: tuple[str, ...],
    entity: str | None,
    joint: bool,
    nulls: str,
) -> dict[str, Any]:
    return {
        "roles": Roles(
            quasi_identifiers=split_lists(qi, "--qi"),
            sensitive=split_lists(sensitive, "--sensitive"),
            identifiers=split_lists(identifier, "--identifier"),
            entity=_one(entity),
            joint=joint,
            nulls=NullPolicy(nulls),
        )
    }


def _one(entity: str | None) -> str | None:
    if entity is None:
        return None
    names = split_list(entity, "--entity")
    if len(names) > 1:
        raise UsageError("--entity takes one column: the one that says which person a row is about.")
    return names[0]


def _asked(*, require: tuple[str, ...], preset: tuple[str, ...], inputs: Path | None) -> dict[str, Any]:
    return {"asked": Asked((*_presets(preset), *_requirements(require)), _inputs(inputs))}


def _requirements(texts: tuple[str, ...]) -> tuple[Requirement, ...]:
    if not texts:
        return ()
    from sqlaudit.models.requirements import parse_requirements

    return tuple(one for text in texts for one in parse_requirements(text))


def _presets(names: tuple[str, ...]) -> tuple[Requirement, ...]:
    if not names:
        return ()
    from sqlaudit.base.names import closest
    from sqlaudit.models.requirements import PRESETS

    for name in names:
        if name not in PRESETS:
            raise UsageError(f"There is no preset {name!r}.{closest(name, PRESETS)} There are: {', '.join(PRESETS)}.")
    return _requirements(tuple(text for name in names for text in PRESETS[name].requirements))


def _inputs(path: Path | None) -> Mapping[str, Any]:
    if path is None:
        return {}
    from sqlaudit.classes.inputs import load_inputs

    return load_inputs(path)


def _limits(
    *, timeout: float | None, memory_limit: str | None, threads: int | None, temp_directory: Path | None
) -> dict[str, Any]:
    if temp_directory is not None and not is_folder(temp_directory):
        raise UsageError(f"--temp-directory {str(temp_directory)!r} is not a folder.")
    return {"limits": Limits(timeout, memory_limit or "", threads, str(temp_directory or ""))}


def _coverage(
    *, accept_identifier: tuple[str, ...], insensitive: tuple[str, ...], all_columns_named: bool
) -> dict[str, Coverage]:
    accepted = split_lists(accept_identifier, "--accept-identifier")
    return {"coverage": Coverage(accepted, split_lists(insensitive, "--insensitive"), all_columns_named)}


def _work(*, show_sql: bool, dry_run: bool, explain: bool) -> dict[str, Any]:
    return {"work": Work(show_sql, dry_run, explain)}


def _failing(
    *, failing_classes: int | None, failing_classes_to: Path | None, worst_classes: int | None, show_values: bool
) -> dict[str, FailingOptions]:
    return {"failing": FailingOptions(failing_classes, show_values, failing_classes_to, worst_classes)}


def _output(*, output_format: str | None, output_file: Path | None) -> dict[str, Output]:
    return {"output": output_for(output_format, output_file)}


_PATH = click.Path(path_type=Path)
_WHAT, _ROLES, _HOLD = "What to look at", "Roles of the columns", "What must hold"
_CLASSES, _OUT, _SHOW, _LIMITS = "Classes that fall short", "Output", "Showing the work", "Limits"

_what = in_section("What to look at")
read_parameters = (
    _what("--file-format", type=click.Choice(FILE_FORMATS), help="What the file is, when its name does not say."),
    _what("--delimiter", "separator", metavar="CHARACTER", help="What separates CSV fields: a character, or tab."),
    _what("--encoding", metavar="NAME", help="The encoding of a CSV file, for instance latin-1."),
    _what("--null-values", "nulls_as", metavar="TEXTS", help='Texts that mean "missing", for instance "?,NA".'),
    _what("--header/--no-header", default=None, help="Whether the first CSV line has the column names."),
    _what("--all-text", is_flag=True, help="Read every CSV column as text (keeps leading zeros)."),
    _what("--hive-partitioning", "hive", is_flag=True, help="Read folders named column=value as columns, too."),
)
target_options = shared(
    _target,
    click.argument("name", metavar="[TARGET]", required=False),
    _what(
        "--db",
        metavar="DATABASE",
        help="A DuckDB file, a PostgreSQL URL or conninfo, or Spark (spark:local, sc://host). Without it TARGET is a "
        "file.",
    ),
    _what("--query", metavar="SQL", help="One SELECT to look at instead of a TARGET."),
    _what("--where", metavar="CONDITION", help="Only the rows for which this SQL condition holds."),
    *read_parameters,
)
"""Adds TARGET and how it is read; the command gets `target: Target` and `db: str | None`."""
several_options = shared(
    _several,
    click.argument("names", metavar="[TABLE|FILE]...", nargs=-1),
    _what("--db", metavar="DATABASE", help="A DuckDB file, or a PostgreSQL URL or conninfo. Without it: files."),
    *read_parameters,
)
"""Adds tables and files and how these are read; the command gets `names`, `db` and `read: ReadOptions`."""

_role = in_section("Roles of the columns")
role_options = shared(
    _roles,
    _role("--qi", multiple=True, metavar="COLUMNS", help='Quasi-identifiers, or expressions: age,sex,"year(birth)".'),
    _role("--sensitive", multiple=True, metavar="COLUMNS", help="Sensitive columns, each looked at on its own."),
    _role("--identifier", multiple=True, metavar="COLUMNS", help="Direct identifiers, which must not be published."),
    _role("--entity", metavar="COLUMN", help="Which person a row is about; sizes then count persons."),
    _role("--joint", is_flag=True, help="Other sensitive columns count as quasi-identifiers (stricter)."),
    _role(
        "--nulls",
        type=click.Choice([policy.value for policy in NullPolicy]),
        default="equal",
        show_default=True,
        help="Missing quasi-identifiers are equal to each other, equal to nothing, or match anything.",
    ),
)
"""Adds the roles of columns; the command gets `roles: Roles`."""

_hold = in_section("What must hold")
require_options = shared(
    _asked,
    _hold("--require", multiple=True, metavar="MODEL=LIMIT", help="k=5, l=3, t=0.2, recursive_l=c:3,l:2 ..."),
    _hold("--preset", multiple=True, metavar="NAME", help="A published rule; `sqlaudit models` lists them."),
    _hold("--inputs", type=_PATH, metavar="FILE", help="What some models need besides: categories, orders, trees ..."),
)
"""Adds requirements; the command gets `asked: Asked`."""

coverage_options = shared(
    _coverage,
    _role("--insensitive", multiple=True, metavar="COLUMNS", help="Columns that were looked at and need no role."),
    _hold(
        "--accept-identifier",
        multiple=True,
        metavar="COLUMNS",
        help="Direct identifiers that may be in the table; every other one that is named fails.",
    ),
    _hold("--all-columns-named", is_flag=True, help="A column without a role fails."),
)
"""Adds what is said of columns that no requirement covers; the command gets `coverage: Coverage`."""

keep_option = in_section("The release")(
    "--keep-column",
    multiple=True,
    metavar="COLUMNS",
    help="Columns that are written though they look like direct identifiers.",
)
"""Adds what may be in a release though it looks like a direct identifier; every command that writes one has it."""

_class = in_section("Classes that fall short")
failing_options = shared(
    _failing,
    _class(
        "--failing-classes",
        callback=count_or_all,
        default="10",
        show_default=True,
        metavar="N|all",
        help="How many of them are in the report.",
    ),
    _class("--failing-classes-to", type=_PATH, metavar="FILE", help="Write all of them to a .csv or .parquet file."),
    _class(
        "--worst-classes",
        type=click.IntRange(0, 10),
        metavar="N",
        help="Of how many of the worst classes to tell how the sensitive values are spread. "
        "[default: 3 in JSON and HTML, else 0]",
    ),
    _class("--show-values", is_flag=True, help="Show values of these classes, which may name persons."),
)
"""Adds what is told of failing classes; the command gets `failing: FailingOptions`."""

_out = in_section("Output")
output_options = shared(
    _output,
    _out("--format", "output_format", type=click.Choice(FORMATS), help="Default: text, or by the ending of --output."),
    _out("--output", "output_file", type=_PATH, metavar="FILE", help="Write the report to a file."),
)
"""Adds format and file of the report; the command gets `output: Output`."""

_show = in_section("Showing the work")
work_options = shared(
    _work,
    _show("--show-sql", is_flag=True, help="Print every statement that runs, on stderr."),
    _show("--dry-run", is_flag=True, help="Print statements and the tables they read; measure nothing."),
    _show("--explain", is_flag=True, help="Print the database's plans; measure nothing."),
)
"""Adds what is shown of the work; the command gets `work: Work`."""

_limit = in_section("Limits")
limit_options = shared(
    _limits,
    _limit("--timeout", callback=duration, metavar="TIME", help="Give up after this time: 90s, 15m, 2h."),
    _limit("--memory-limit", callback=size, metavar="SIZE", help="What DuckDB may use before it spills to disk: 4GB."),
    _limit("--threads", type=click.IntRange(min=1), metavar="N", help="How many threads DuckDB may use."),
    _limit("--temp-directory", type=_PATH, metavar="FOLDER", help="Where DuckDB may spill (encrypted)."),
)
"""Adds budgets; the command gets `limits: Limits`."""
