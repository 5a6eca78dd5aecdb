"""`sqlaudit compile`: checks as SQL for any warehouse; nothing is connected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode, UnknownFile, UsageError
from sqlaudit.base.files import check_destination, check_ending, write_text
from sqlaudit.base.options import options_of
from sqlaudit.base.spec import Roles, Target
from sqlaudit.base.version import __version__
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.options import inputs_from, role_options
from sqlaudit.cli.output import print_data
from sqlaudit.cli.policies import which_policy
from sqlaudit.cli.requests import PATH, command_of, group_options, in_section, options_for, request_values
from sqlaudit.gates.standalone.checks import AnswerForm, Returns, compile_cells, compile_statements, script
from sqlaudit.tabular.request import AggregatesRequest

if TYPE_CHECKING:
    from sqlaudit.gates.standalone.policies import PolicyStatement

_statement_option = in_section("Statements")
_table_option = in_section("Table")
_policy_option = in_section("Policy instead of a table")
_output_option = in_section("Output")
_CONTRACT = (".yaml", ".yml")
_CELL_FIELDS = ("count", "contributors", "value", "holdings", "largest")
_CELL_OPTIONS = tuple(field_option for name, field_option in options_of(AggregatesRequest) if name in _CELL_FIELDS)


def _cell_columns(**options: Any) -> dict[str, Any]:
    """Return the columns of cells that the options name, by field."""
    defaults = {field_option.name: None for _, field_option in options_of(AggregatesRequest)}
    values = request_values(AggregatesRequest, defaults | options)
    return {name: values[name] for name in _CELL_FIELDS if values.get(name)}


@command_of(
    click.Argument(["checks"], metavar="[CHECK]...", nargs=-1),
    _statement_option(
        "--dialect",
        default="duckdb",
        show_default=True,
        metavar="NAME",
        help="snowflake, bigquery, redshift, trino ...",
    ),
    _statement_option(
        "--returns",
        type=click.Choice([form.value for form in Returns]),
        help="Result of a statement. Default: figures; for a policy, row, which 'test --results' reads.",
    ),
    _statement_option("--inputs", type=PATH, metavar="FILE", help="Population table, or 'class_function: identity'."),
    _table_option("--table", metavar="NAME", help="Table or view, by its name in the warehouse."),
    _table_option("--query", metavar="SQL", help="One SELECT in the dialect, instead of a table."),
    _table_option("--exact-names", is_flag=True, help="Quote column names, because their case matters."),
    _table_option("--where", metavar="CONDITION", help="SQL condition on the rows."),
    role_options,
    group_options(
        "cells",
        _cell_columns,
        *(
            parameter
            for field_option in _CELL_OPTIONS
            for parameter in options_for(replace(field_option, section="Cells of a published table"))
        ),
    ),
    group_options(
        "which",
        lambda **policy: which_policy(**policy) if set(policy.values()) != {None} else None,
        _policy_option("-f", "--file", type=PATH, metavar="POLICY", help="Write the tests of a policy."),
        _policy_option("--dbt-project", type=PATH, metavar="FOLDER", help="Write the tests in the meta of dbt models."),
        _policy_option(
            "--dbt-target", metavar="NAME", help="Target of the dbt profile. Default: the target of the profile."
        ),
    ),
    _policy_option("--select", multiple=True, metavar="TESTS", help="Tests to write, as for 'sqlaudit test'."),
    _policy_option("--run", metavar="NAME", help="Run name to add to every statement: see 'test --run'."),
    _policy_option(
        "--each-to", type=PATH, metavar="FOLDER", writes=True, help="Write each statement to its own file in a folder."
    ),
    _output_option(
        "-o",
        "--output",
        "output_file",
        type=PATH,
        metavar="FILE",
        writes=True,
        help="Write the script to a file; with -f also .yaml, a data contract.",
    ),
)
def command(
    checks: tuple[str, ...],
    roles: Roles,
    cells: dict[str, Any],
    which: Mapping[str, Any] | None,
    output_file: Path | None,
    dialect: str,
    exact_names: bool,
    **options: Any,
) -> int:
    """Write each check as one standalone SELECT for warehouses that sqlaudit does not connect to.

    A CHECK is a requirement (k=5, t=0.2, disclosure@1=0.8), or the name of a model to return its
    figures only. With --count or --value, CHECKs are rules for the cells of a published table
    (threshold=5). Default: all models that one SELECT can compute. Each statement returns one row
    with the figures and the verdict, and no values of the table.

    With -f, write the tests of a policy. `sqlaudit test --results` then judges the results.
    Exit code 1: a test has no statement.

    \b
      sqlaudit compile --dialect snowflake --table release.patients \\
          --qi age,sex,zip --sensitive diagnosis k=5 t=0.2
      sqlaudit compile --dialect snowflake --table release.counts --count n threshold=5
      sqlaudit compile --dialect snowflake -f sqlaudit.yml --each-to statements
    """
    if output_file is not None:
        check_destination(output_file)
        check_ending(output_file, (".sql", ".txt", *(_CONTRACT if which is not None else ())))
    if which is not None:
        table_options = (
            checks,
            options["table"],
            options["query"],
            options["where"],
            options["inputs"],
            *cells.values(),
        )
        if any(table_options) or roles != Roles():
            raise UsageError("A policy has its own checks, tables and roles: leave them out with -f.")
        in_contract = output_file is not None and output_file.suffix.lower() in _CONTRACT
        if in_contract and options["returns"] not in (None, Returns.COUNT):
            raise UsageError(f"A data contract counts what fails. Leave out --returns {options['returns']}.")
        returns = Returns.COUNT if in_contract else Returns(options["returns"] or Returns.ROW)
        wording = (dialect, exact_names, returns, options["run"] or "")
        return _write_policy(which, options["select"], wording, options["each_to"], output_file)
    if options["select"] or options["run"] or options["each_to"]:
        raise UsageError("--select, --run and --each-to need a policy: name it with -f.")
    target = _target(options["table"], options["query"], options["where"])
    answer = AnswerForm(Returns(options["returns"] or Returns.FIGURES))
    if any(cells.values()):
        compiled = compile_cells(target, checks, dialect=dialect, exact_names=exact_names, answer=answer, **cells)
    else:
        inputs = inputs_from(options["inputs"])
        compiled = compile_statements(
            target, roles, checks, dialect=dialect, inputs=inputs, exact_names=exact_names, answer=answer
        )
    _write_script(script(compiled, target, __version__), sum(1 for statement in compiled if statement.sql), output_file)
    return ExitCode.OK


def _write_policy(
    which: Mapping[str, Any],
    select: tuple[str, ...],
    wording: tuple[str, bool, Returns, str],
    folder: Path | None,
    output_file: Path | None,
) -> int:
    """Write the tests of a policy, each to a file of a folder or all as one script. Return the exit code."""
    from sqlaudit.gates.api import GateRequest
    from sqlaudit.gates.run import mistakes_of
    from sqlaudit.gates.run import select as selected
    from sqlaudit.gates.standalone.policies import Wording, contract_text, policy_script, policy_statements

    if folder is not None and output_file is not None:
        raise UsageError("--each-to and --output exclude each other: give one of them.")
    policy = GateRequest(**which).read()
    statements = policy_statements(selected(policy.tables, select), Wording(*wording))
    mistakes = mistakes_of(policy)
    for mistake in mistakes:
        say(f"{mistake.place}: {mistake.message}")
    refused = [statement for statement in statements if not statement.test_id]
    for statement in refused:
        if not statement.spec.mistake:
            spec = statement.spec
            refusal = f"{spec.requirement} is not written: {statement.compiled.refused}"
            say(f"{spec.place}: {statement.table.name}: {refusal}")
    if not statements:
        raise UsageError(f"{policy.file}: no tests to write.")
    written = sum(1 for statement in statements if statement.test_id)
    if folder is not None:
        _write_statements(statements, folder)
    elif output_file is not None and output_file.suffix.lower() in _CONTRACT:
        _write_script(contract_text(statements, policy.file), written, output_file)
    else:
        _write_script(policy_script(statements, policy.file, __version__), written, output_file)
    return ExitCode.USAGE if mistakes else ExitCode.REQUIREMENT_FAILED if refused else ExitCode.OK


def _write_statements(statements: Sequence[PolicyStatement], folder: Path) -> None:
    """Write each statement to a file with its name. Print how many other statements the folder has."""
    from sqlaudit.gates.standalone.policies import statement_text

    if not folder.is_dir():
        raise UnknownFile(f"There is no folder {str(folder)!r}. Make it first.")
    for statement in statements:
        if statement.test_id:
            write_text(folder / f"{statement.test_id}.sql", statement_text(statement))
    written = {f"{statement.test_id}.sql" for statement in statements if statement.test_id}
    others = sum(1 for path in folder.glob("*.sql") if path.name not in written)
    remark = f" The folder has {others} other .sql files, perhaps of an older policy." if others else ""
    tell(f"wrote {len(written)} statements to {str(folder)!r}.{remark}")


def _write_script(text: str, number: int, output_file: Path | None) -> None:
    """Print a script, or write it to a file and print that."""
    if output_file is None:
        print_data(text)
    else:
        write_text(output_file, text)
        tell(f"wrote {number} statements to {str(output_file)!r}.")


def _target(table: str | None, query: str | None, where: str | None) -> Target:
    if bool(table) == bool(query):
        raise UsageError("No table is given. Name it with --table, or give a SELECT with --query.")
    if query and where:
        raise UsageError("--where applies to a table: put the condition into --query.")
    return Target(relation=table or "", query=query or "", where=where or "")
