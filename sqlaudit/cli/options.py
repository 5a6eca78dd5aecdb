"""The options that commands share, each group defined once. A command gets one object for a group."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import PrivateFolder, is_folder
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import (
    FILE,
    FLAG,
    TABLE,
    Option,
    RequestPart,
    all_options_of,
    option,
    options_of,
    parts_of,
    request_from,
    split_list,
)
from sqlaudit.base.spec import (
    CLASSES,
    LOOK,
    Buckets,
    Limits,
    Reading,
    ReadOptions,
    TableOptions,
    Target,
    table_options_from_texts,
)
from sqlaudit.cli.exits import tell
from sqlaudit.cli.output import COVER, output_for
from sqlaudit.cli.requests import (
    PATH,
    OptionGroup,
    group_options,
    in_section,
    null_values,
    option_values,
    options_for,
    parameters_of,
    read_request,
    request_options,
)
from sqlaudit.reports.document import About
from sqlaudit.reports.formats import FORMATS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_SHOW = "SQL"


@dataclass(frozen=True)
class Trace:
    """What to print, on stderr, of the statements that run: their text, and their times."""

    show_sql: bool = option(False, FLAG, "Print every statement that runs, on stderr.", _SHOW)
    timings: bool = option(
        False, FLAG, "Print on stderr where the time went: steps, their rows and seconds, and peak memory.", _SHOW
    )


@dataclass(frozen=True)
class Work(Trace):
    """What to print of the statements that run, or of those that would run instead of a run."""

    dry_run: bool = option(False, FLAG, "Print statements and the tables they read; measure nothing.", _SHOW)
    explain: bool = option(False, FLAG, "Print the database's plans; measure nothing.", _SHOW)


@dataclass(frozen=True)
class CertificateFile:
    """The certificate of what a command found or made.

    Args:
        file: the file for it; None = none.
        key: the private key that signs it.
        new_key: True if this key is to be made first.
    """

    file: Path | None = option(
        None,
        FILE,
        "Write a certificate, which `sqlaudit verify` checks again.",
        "Output",
        name="certificate",
        metavar="FILE",
        writes=True,
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

    def __post_init__(self) -> None:
        if self.key is not None and self.file is None:
            raise UsageError("--certificate-key needs --certificate: name the file to sign.")
        if self.new_key and self.key is None:
            raise UsageError("--new-key needs --certificate-key: name the key's file.")

    def signing_key(self) -> Ed25519PrivateKey | None:
        """Return the key that signs, which is made first if requested. Read it before any work begins.

        Raises:
            UsageError: the certificate cannot be written. InputError: the key cannot be read.
        """
        from sqlaudit.base.files import check_destination
        from sqlaudit.certificates.certificate import make_key, read_private_key

        assert self.file is not None
        check_destination(self.file, (".json",))
        if self.new_key and self.key is not None:
            tell(f"created the key {str(self.key)!r}; publish its public half, {str(make_key(self.key))!r}.")
        return None if self.key is None else read_private_key(self.key)

    def write(self, certificate: Mapping[str, object]) -> None:
        """Write the certificate, and say so."""
        from sqlaudit.certificates.certificate import write_certificate

        assert self.file is not None
        write_certificate(self.file, certificate)
        tell(f"wrote the certificate to {str(self.file)!r}{'' if self.key is None else ', signed'}.")


@dataclass(frozen=True)
class FurtherReports(CertificateFile):
    """Further outputs of an audit.

    Args:
        failing_classes_to: the file for all failing classes.
    """

    failing_classes_to: Path | None = option(
        None, FILE, "Write all failing classes to a .csv or .parquet file.", CLASSES, metavar="FILE", writes=True
    )


def target_of(
    *, name: str | None, db: str | None, query: str | None, where: str | None, **read_values: object
) -> dict[str, object]:
    """Return the target of a command and its database, as `target` and `db`.

    Raises:
        UsageError: nothing is named, or two things are.
    """
    if not name and not query:
        raise UsageError("No target is given. Name a file, table or view, or give a SELECT with --query.")
    if name and query:
        raise UsageError("Give a table or file, or a --query, not both.")
    if query and where:
        raise UsageError("--where applies to a table or file: put the condition into --query.")
    buckets = _take_buckets(read_values)
    reading = reading_of(**read_values)
    target = Target(relation=name or "", query=query or "", where=where or "", buckets=buckets)
    if name == "-":
        stdin = reading.table(replace(target, label="stdin"), "target")
        target = replace(stdin, relation=spool_stdin(stdin.read.format))
    return {"target": reading.table(target, "target"), "db": db}


_OF_A_TABLE = re.compile(r"(?P<name>.+?):(?P<options>\s*\"?[\w-]+\s*=.*)", re.DOTALL)
"""A table and its options. The name may have a colon itself (`C:\\data.xlsx`)."""


def reading_of(**values: Any) -> Reading:
    """Return how files are read, from click's values of the options of all tables and of single ones.

    Raises:
        UsageError: an option that does not exist, or does not take its value.
    """
    tables: dict[str, TableOptions] = {}
    for text in values.pop("read_tables"):
        match = _OF_A_TABLE.fullmatch(text)
        items = [item.partition("=") for item in split_list(match["options"], "--read")] if match else []
        if match is None or not all(equals for _, equals, _ in items):
            raise UsageError("--read takes NAME:option=value,…, for example release:sheet=Data,skip=1.")
        texts: dict[str, str | tuple[str, ...]] = {}
        for key, _, written in items:
            name, value = key.strip().replace("-", "_"), written.strip()
            if value[:1] == '"':
                (value,) = split_list(value, "--read")
            texts[name] = null_values(value) if name == "null_values" else value.replace('""', "")
        tables[match["name"]] = {**tables.get(match["name"], {}), **table_options_from_texts(texts)}
    return Reading(read_request(ReadOptions, **values), tables)


_input_option = in_section("Input")
read_parameters = (
    *parameters_of(ReadOptions, last=("all_text", "hive_partitioning", "labels")),
    _input_option(
        "--read",
        "read_tables",
        multiple=True,
        metavar="NAME:OPTIONS",
        help="Options of one table, by its role or file: release:sheet=Data,skip=1. Repeatable.",
    ),
)
TARGET = (
    click.Argument(["name"], metavar="[TARGET]", required=False),
    _input_option(
        "--db",
        metavar="DATABASE",
        help="A DuckDB or SQLite file, a PostgreSQL URL or conninfo, or Spark (spark:local, sc://host). Default: "
        "TARGET is a file.",
    ),
    _input_option("--query", metavar="SQL", help="One SELECT instead of a TARGET."),
    _input_option("--where", metavar="CONDITION", help="SQL condition on the rows."),
    *read_parameters,
)
target_options = OptionGroup(target_of, *TARGET)
"""TARGET and how it is read; the command gets `target: Target` and `db: str | None`."""


def _take_buckets(values: dict[str, Any]) -> Buckets | None:
    """Take the options of a bucketized release out of click's values. Return its second table, None without any.

    Raises:
        UsageError: some of the options are missing.
    """
    table, column, count = (values.pop(bucket_option.name, None) for _, bucket_option in options_of(Buckets))
    return Buckets(table, column or "", count or "") if table or column or count else None


bucket_parameters = tuple(
    parameter for _, field_option in options_of(Buckets) for parameter in options_for(replace(field_option, shown=""))
)
bucketized_options = OptionGroup(target_of, *TARGET, *bucket_parameters)
"""`target_options` for commands that also take the two tables of a bucketized release."""
read_options = group_options("read", reading_of, *read_parameters)
"""How files are read; the command gets `read: Reading`."""

# A request with all of its parts: what the command line makes of the registry's declarations.


def _released(*, release: str, db: str | None, **values: object) -> dict[str, object]:
    """Return the name of a release and its database, with how files are read, and its second table in buckets."""
    buckets = _take_buckets(values)
    return {"release": release, "db": db, "read": reading_of(**values), "buckets": buckets}


def _series(*, targets: tuple[str, ...], db: str | None, **values: object) -> dict[str, object]:
    """Return the names of several releases and their database, with how files are read."""
    return {"targets": targets, "db": db, "read": reading_of(**values)}


def _database_option(help: str) -> click.Option:
    return _input_option("--db", metavar="DATABASE", help=help)


_TABLES: Mapping[str, OptionGroup] = {
    "target": target_options,
    "bucketized": bucketized_options,
    "original": OptionGroup(lambda original: {"original": original}, click.Argument(["original"])),
    "release": OptionGroup(
        _released,
        click.Argument(["release"]),
        _database_option("A DuckDB file, or a PostgreSQL URL. Default: both are files."),
        *read_parameters,
        *bucket_parameters,
    ),
    "releases": OptionGroup(
        _series,
        click.Argument(["targets"], metavar="RELEASE RELEASE...", nargs=-1),
        _database_option("A DuckDB file, or a PostgreSQL URL or conninfo. Default: the releases are files."),
        *read_parameters,
    ),
}
"""The parameters of a part that names tables, by its kind. The values are `db` and what was given by parameter of
Python; or `target`, which stands for the parameter of the part and for `read`."""


def whole_request(request: type[object], last: Sequence[str] = (), **help_texts: str) -> OptionGroup:
    """Return the group of all options of a request and its parts; the command gets `request`, with tables also `db`.

    Args:
        request: the class of the request.
        last: options that stand behind the others on the help page, in this order.
        help_texts: help texts of this command, by option, where they differ from the request's.
    """
    tables = {
        declared.parameters[0]: _TABLES[declared.kind]
        for declared in parts_of(request)
        if isinstance(declared, RequestPart) and declared.kind
    }
    options = [option for option in all_options_of(request) if not option.only_python]
    options.sort(key=lambda option: last.index(option.name) + 1 if option.name in last else 0)
    parameters = [parameter for group in tables.values() for parameter in group.parameters]
    at = next((at for at, parameter in enumerate(parameters) if parameter in read_parameters), 0)
    # All tables of the input stand together on the help page, before the options of how files are read
    inputs = [option for option in options if option.kind is TABLE and option.section == LOOK]
    others = [option for option in options if option not in inputs]

    def make(**values: Any) -> dict[str, object]:
        """Return the arguments of the command: its request from click's values, and with tables the database."""
        fields: dict[str, object] = {}
        for name, group in tables.items():
            table_fields = dict(group.extract(values))
            # Groups of one table call it `target`; the request calls it by the name of its part
            if (target := table_fields.pop("target", None)) is not None:
                fields |= {"read": target.reading, name: target}
            fields |= table_fields
        fields |= option_values(options, values)
        arguments: dict[str, object] = {"request": request_from(request, fields)}
        return arguments | {"db": fields["db"]} if tables else arguments

    def parameters_for(options: Iterable[Option]) -> Iterator[click.Parameter]:
        for field_option in options:
            yield from options_for(replace(field_option, help=help_texts.get(field_option.name, field_option.help)))

    return OptionGroup(make, *parameters[:at], *parameters_for(inputs), *parameters[at:], *parameters_for(others))


_output_option = in_section("Output")
_cover_option = in_section(COVER)


def cover_parameters(owner: str = "--owner") -> tuple[click.Parameter, ...]:
    """Return the options of the cover page of a report; `owner` is the flag for who is responsible for the table."""
    return (
        _cover_option("--title", default="", metavar="TEXT", help="Title of the report."),
        _cover_option(owner, "about_owner", default="", metavar="TEXT", help="Person responsible for the table."),
        _cover_option("--purpose", default="", metavar="TEXT", help="Purpose of the table."),
        _cover_option("--sign-off", multiple=True, metavar="WHO", help="Line for a signature. Repeatable."),
    )


def cover_of(*, title: str, about_owner: str, purpose: str, sign_off: tuple[str, ...]) -> About:
    """Return what the options of a cover page say."""
    return About(title=title, owner=about_owner, purpose=purpose, sign_off=sign_off)


cover_options = group_options("cover", cover_of, *cover_parameters())
"""Cover page of the report; the command gets `cover: About`."""


def output_options_with(owner: str = "--owner") -> OptionGroup:
    """Return the format, file and cover page of the report; the command gets `output: Output`."""
    return group_options(
        "output",
        lambda output_format, output_file, **cover: replace(
            output_for(output_format, output_file), cover=cover_of(**cover)
        ),
        _output_option(
            "--format", "output_format", type=click.Choice(FORMATS), help="Default: text, or by the ending of --output."
        ),
        _output_option(
            "-o", "--output", "output_file", type=PATH, metavar="FILE", writes=True, help="Write the report to a file."
        ),
        *cover_parameters(owner),
    )


output_options = output_options_with()
"""Format, file and cover page of the report; the command gets `output: Output`."""

certificate_options = request_options(CertificateFile, "certificate")
"""The certificate of what is made; the command gets `certificate: CertificateFile`."""

further_options = request_options(FurtherReports, "further")
"""Further outputs of an audit; the command gets `further: FurtherReports`."""

work_options = request_options(Work, "work")
"""Which SQL is printed; the command gets `work: Work`."""

trace_options = request_options(Trace, "trace")
"""What is printed of the statements that run; the command gets `trace: Trace`."""


def _limits(**values: object) -> Limits:
    limits = read_request(Limits, **values)
    if limits.temp_directory and not is_folder(limits.temp_directory):
        raise UsageError(f"--temp-directory {limits.temp_directory!r} is not a folder.")
    return limits


limit_options = group_options("limits", _limits, *parameters_of(Limits))
"""Budgets; the command gets `limits: Limits`."""


# TARGET `-`: a table from a pipe. It is stored until the command ends, because audits read it more than once.

_ENDINGS = {"csv": ".csv", "json": ".json", "parquet": ".parquet", "arrow": ".arrow"}
_ENDING_BY_START = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"{", ".json"), (b"[", ".json"))

_START_BYTES = 64


def spool_stdin(format: str) -> str:
    """Write stdin to a file in a folder that only this user may enter. Return its path.

    The file is removed when the command ends. What a killed command left behind is removed when the next one starts.

    Args:
        format: csv, json, parquet or arrow. Empty: decided by the first bytes, CSV if they show no other.

    Raises:
        UsageError: stdin is a terminal.
    """
    if sys.stdin.isatty():
        raise UsageError("TARGET - reads a table from a pipe, for example: gzip -cd people.csv.gz | sqlaudit audit - …")
    folder = PrivateFolder("stdin")
    click.get_current_context().call_on_close(folder.close)
    start = sys.stdin.buffer.read(_START_BYTES)
    by_start = next((ending for begins, ending in _ENDING_BY_START if start.lstrip().startswith(begins)), ".csv")
    path = folder.path / ("stdin" + _ENDINGS.get(format, by_start))
    with path.open("xb") as file:
        file.write(start)
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(path)
