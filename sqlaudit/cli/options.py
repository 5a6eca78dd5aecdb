"""The options that commands share, each group defined once; of a group a command gets one object."""

from __future__ import annotations

import functools
import shutil
import sys
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import click

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import PrivateFolder, is_folder
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FILE, FLAG, listed, option, options_of
from sqlaudit.base.spec import (
    CLASSES,
    Buckets,
    Coverage,
    Limits,
    ReadOptions,
    Requirement,
    Roles,
    SafeHarbor,
    Sampling,
    Target,
)
from sqlaudit.cli.output import output_for
from sqlaudit.cli.requests import (
    PATH,
    OptionGroup,
    handing,
    in_section,
    options_for,
    parameters_of,
    read_request,
    request_options,
)
from sqlaudit.reports.document import About
from sqlaudit.reports.formats import FORMATS

_SHOW = "SQL"


@dataclass(frozen=True)
class Demands:
    """The requirements, those of presets among them, the further inputs of models, and the presets of an audit."""

    requirements: tuple[Requirement, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    presets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Work:
    """The SQL to print: statements as they run, or statements or plans instead of a run."""

    show_sql: bool = option(False, FLAG, "Print every statement that runs, on stderr.", _SHOW)
    dry_run: bool = option(False, FLAG, "Print statements and the tables they read; measure nothing.", _SHOW)
    explain: bool = option(False, FLAG, "Print the database's plans; measure nothing.", _SHOW)


@dataclass(frozen=True)
class FurtherReports:
    """What else tells of an audit: all failing classes in a file; a certificate in a file, signed with the private key
    in another file; or in place of the report one by criteria, `internal` or `public`."""

    failing_classes_to: Path | None = option(
        None, FILE, "Write all failing classes to a .csv or .parquet file.", CLASSES, metavar="FILE"
    )
    file: Path | None = option(
        None,
        FILE,
        "Write a certificate, which `sqlaudit verify` checks again.",
        "Output",
        name="certificate",
        metavar="FILE",
    )
    key: Path | None = option(
        None,
        FILE,
        "Sign the certificate with this private Ed25519 key (PEM).",
        "Output",
        name="certificate_key",
        metavar="FILE",
    )

    new_key: bool = option(False, FLAG, "Make that key first, with its public half (NAME.pub.pem).", "Output")
    criteria: str | None = option(
        None,
        listed(("internal", "public")),
        "Report by criteria of data protection, with exact figures or with small counts rounded.",
        "Output",
    )

    def __post_init__(self) -> None:
        if self.key is not None and self.file is None:
            raise UsageError("--certificate-key needs --certificate: name the file to sign.")
        if self.new_key and self.key is None:
            raise UsageError("--new-key needs --certificate-key: name the key's file.")


def target_of(*, name: str | None, db: str | None, query: str | None, where: str | None, **more: Any) -> dict[str, Any]:
    """What a command looks at, and in which database.

    Raises:
        UsageError: nothing is named, or two things are.
    """
    if not name and not query:
        raise UsageError("No target is given. Name a file, table or view, or give a SELECT with --query.")
    if name and query:
        raise UsageError("Give a table or file, or a --query, not both.")
    if query and where:
        raise UsageError("--where applies to a table or file: put the condition into --query.")
    buckets = [more.pop(one.name, None) for _, one in options_of(Buckets)]
    found = read_request(ReadOptions, **more)
    if name == "-":
        target = Target(relation=spooled(found.format), where=where or "", read=found, label="stdin")
    else:
        target = Target(relation=name or "", query=query or "", where=where or "", read=found)
    return {"target": in_buckets(target, *buckets), "db": db}


def _requirements(texts: tuple[str, ...], among: str = "REGISTRY") -> tuple[Requirement, ...]:
    if not texts:
        return ()
    from sqlaudit.models import registry

    found = getattr(registry, among)
    return tuple(one for text in texts for one in registry.parse_requirements(text, among=found))


def _presets(names: tuple[str, ...], among: str) -> tuple[Requirement, ...]:
    if not names:
        return ()
    from sqlaudit.models import presets

    return getattr(presets, among)(names)  # type: ignore[no-any-return]


def inputs_from(path: Path | None) -> Mapping[str, Any]:
    """What the file of `--inputs` holds, nothing without one."""
    if path is None:
        return {}
    from sqlaudit.classes.inputs import load_inputs

    return load_inputs(path)


_what = in_section("Input")
read_parameters = parameters_of(ReadOptions, last=("all_text", "hive_partitioning", "labels"))
TARGET = (
    click.Argument(["name"], metavar="[TARGET]", required=False),
    _what(
        "--db",
        metavar="DATABASE",
        help="A DuckDB or SQLite file, a PostgreSQL URL or conninfo, or Spark (spark:local, sc://host). Default: "
        "TARGET is a file.",
    ),
    _what("--query", metavar="SQL", help="One SELECT instead of a TARGET."),
    _what("--where", metavar="CONDITION", help="SQL condition on the rows."),
    *read_parameters,
)
target_options = OptionGroup(target_of, *TARGET)
"""TARGET and how it is read; the command gets `target: Target` and `db: str | None`."""


def in_buckets(target: Target, buckets: str | None, column: str | None, count: str | None) -> Target:
    """The persons of a bucketized release with the table of values, where one of its options is given.

    Raises:
        UsageError: only some of them are.
    """
    if not (buckets or column or count):
        return target
    return replace(target, buckets=Buckets(buckets, column or "", count or ""))


bucket_parameters = tuple(made for _, one in options_of(Buckets) for made in options_for(replace(one, shown="")))
bucketized_options = OptionGroup(target_of, *TARGET, *bucket_parameters)
"""The same as `target_options`, for commands that also take the two tables of a bucketized release."""
read_options = handing("read", functools.partial(read_request, ReadOptions), *read_parameters)
"""How files are read; the command gets `read: ReadOptions`."""

role_options = request_options(Roles, "roles")
"""The roles of columns; the command gets `roles: Roles`."""

sampling_options = request_options(Sampling, "sampling")
"""How the table is a sample; the command gets `sampling: Sampling`."""


population_options = handing(
    "sampling",
    functools.partial(read_request, Sampling, weights=None),
    *(made for _, one in options_of(Sampling) if one.name != "weights" for made in options_for(one)),
)
"""The same for commands whose --weights are those of columns."""

_hold = in_section("Requirements")


def require_of(among: str, section: str, metavar: str, help: str) -> OptionGroup:
    """Requirements of one kind alone, which the registry of models lists under this name; as `asked: Demands`."""

    parameter = in_section(section)("--require", multiple=True, metavar=metavar, help=help)
    return handing("asked", lambda require: Demands(_requirements(require, among)), parameter)


_preset = _hold("--preset", multiple=True, metavar="NAME", help="A published rule; `sqlaudit models --presets`.")
_of_rows = (
    _hold("--require", multiple=True, metavar="MODEL=LIMIT", help="k=5, l=3, t=0.2, recursive_l=c:3,l:2 ..."),
    _preset,
    _hold("--inputs", type=PATH, metavar="FILE", help="Further inputs of models: categories, orders, trees ..."),
)


def requiring(among: str = "REGISTRY") -> OptionGroup:
    """Requirements with presets and inputs; the registry of models lists under this name what may be required."""
    return handing(
        "asked",
        lambda require, preset, inputs: Demands(
            (*_presets(preset, "of_rows"), *_requirements(require, among)), inputs_from(inputs)
        ),
        *_of_rows,
    )


require_options = requiring()
"""Requirements; the command gets `asked: Demands`."""
audit_options = handing(
    "asked", lambda require, preset, inputs: Demands(_requirements(require), inputs_from(inputs), preset), *_of_rows
)
"""The same for audits, which make of the presets what they require, checks of columns, or sections of a report."""
cell_options = handing(
    "asked",
    lambda require, preset: Demands((*_presets(preset, "of_cells"), *_requirements(require, "CELL_RULES"))),
    _hold("--require", multiple=True, metavar="RULE=LIMIT", help="threshold=5, p_percent=10, dominance=n:2,k:85 ..."),
    _preset,
)
"""Rules for cells; the command gets `asked: Demands`."""

harbor_options = request_options(SafeHarbor, "harbor")
"""How HIPAA's Safe Harbor is checked; the command gets `harbor: SafeHarbor`."""

coverage_options = request_options(Coverage, "coverage")
"""What is said of columns that no requirement covers; the command gets `coverage: Coverage`."""

_out = in_section("Output")
_cover_page = in_section("Cover page")
cover_options = handing(
    "cover",
    About,
    _cover_page("--title", default="", metavar="TEXT", help="Title of the report."),
    _cover_page("--owner", default="", metavar="TEXT", help="Person responsible for the table."),
    _cover_page("--purpose", default="", metavar="TEXT", help="Purpose of the table."),
    _cover_page("--sign-off", multiple=True, metavar="WHO", help="Line for a signature. Repeatable."),
)
"""Cover page of the report; the command gets `cover: About`."""
output_options = handing(
    "output",
    output_for,
    _out("--format", "output_format", type=click.Choice(FORMATS), help="Default: text, or by the ending of --output."),
    _out("-o", "--output", "output_file", type=PATH, metavar="FILE", help="Write the report to a file."),
)
"""Format and file of the report; the command gets `output: Output`."""

further_options = request_options(FurtherReports, "further")
"""What else tells of an audit; the command gets `further: FurtherReports`."""

work_options = request_options(Work, "work")
"""What is shown of the work; the command gets `work: Work`."""


def _limits(**values: Any) -> Limits:
    limits = read_request(Limits, **values)
    if limits.temp_directory and not is_folder(limits.temp_directory):
        raise UsageError(f"--temp-directory {limits.temp_directory!r} is not a folder.")
    return limits


limit_options = handing("limits", _limits, *parameters_of(Limits))
"""Budgets; the command gets `limits: Limits`."""


# TARGET `-`: a table that comes through a pipe, kept until the command ends, as audits read it more than once.

_ENDINGS = {"csv": ".csv", "json": ".json", "parquet": ".parquet", "arrow": ".arrow"}
_BY_START = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"{", ".json"), (b"[", ".json"))

_ENOUGH = 64


def spooled(format: str) -> str:
    """The path of a file with what comes through stdin, in a folder that only this user may enter.

    Args:
        format: what it is; empty = by its first bytes, else CSV. The file goes away with the command, and what a killed
            one left behind when the next one starts.

    Raises:
        UsageError: stdin is a terminal.
    """
    if sys.stdin.isatty():
        raise UsageError("TARGET - reads a table from a pipe, for example: gzip -cd people.csv.gz | sqlaudit audit - …")
    folder = PrivateFolder("stdin")
    click.get_current_context().call_on_close(folder.close)
    start = sys.stdin.buffer.read(_ENOUGH)
    by_start = next((ending for begins, ending in _BY_START if start.lstrip().startswith(begins)), ".csv")
    path = folder.path / ("stdin" + _ENDINGS.get(format, by_start))
    with path.open("xb") as file:
        file.write(start)
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(path)
