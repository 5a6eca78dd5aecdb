"""`sqlaudit compile`: checks as SQL for any warehouse; nothing is connected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.files import check_destination, check_ending, write_text
from sqlaudit.base.options import options_of
from sqlaudit.base.spec import Roles, Target
from sqlaudit.base.version import __version__
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.options import inputs_from, role_options
from sqlaudit.cli.output import print_data
from sqlaudit.cli.policies import which_policy
from sqlaudit.cli.requests import PATH, command_of, handing, in_section, options_for, typed
from sqlaudit.gates.standalone.checks import AnswerForm, Returns, compile_cells, compile_statements, script
from sqlaudit.tabular.request import AggregatesRequest

if TYPE_CHECKING:
    from sqlaudit.gates.standalone.policies import PolicyStatement

_what = in_section("Statements")
_table = in_section("Table")
_policy = in_section("Policy instead of a table")
_out = in_section("Output")
_CONTRACT = (".yaml", ".yml")
_CELLS = ("count", "contributors", "value", "holdings", "largest")
_OF_CELLS = tuple(one for name, one in options_of(AggregatesRequest) if name in _CELLS)


def _cells(**given: Any) -> dict[str, Any]:
    """Which column says what of a cell, as far as it was said."""
    every = {one.name: None for _, one in options_of(AggregatesRequest)}
    found = typed(AggregatesRequest, every | given)
    return {name: found[name] for name in _CELLS if found.get(name)}


@command_of(
    click.Argument(["checks"], metavar="[CHECK]...", nargs=-1),
    _what(
        "--dialect",
        default="duckdb",
        show_default=True,
        metavar="NAME",
        help="snowflake, bigquery, redshift, trino ...",
    ),
    _what(
        "--returns",
        type=click.Choice([one.value for one in Returns]),
        help="Result of a statement. Default: figures; for a policy, row, which 'test --results' reads.",
    ),
    _what("--inputs", type=PATH, metavar="FILE", help="Population table, or 'class_function: identity'."),
    _table("--table", metavar="NAME", help="Table or view, by its name in the warehouse."),
    _table("--query", metavar="SQL", help="One SELECT in the dialect, instead of a table."),
    _table("--exact-names", is_flag=True, help="Quote column names, because their case matters."),
    _table("--where", metavar="CONDITION", help="SQL condition on the rows."),
    role_options,
    handing(
        "cells",
        _cells,
        *(made for one in _OF_CELLS for made in options_for(replace(one, section="Cells of a published table"))),
    ),
    handing(
        "which",
        lambda **named: which_policy(**named) if set(named.values()) != {None} else None,
        _policy("-f", "--file", type=PATH, metavar="POLICY", help="Write the tests of a policy."),
        _policy("--dbt-project", type=PATH, metavar="FOLDER", help="Write the tests in the meta of dbt models."),
        _policy("--dbt-target", metavar="NAME", help="Target of the dbt profile. Default: the target of the profile."),
    ),
    _policy("--select", multiple=True, metavar="TESTS", help="Tests to write, as for 'sqlaudit test'."),
    _policy("--run", metavar="NAME", help="Run name to add to every statement: see 'test --run'."),
    _policy("--each-to", type=PATH, metavar="FOLDER", help="Write each statement to its own file in a folder."),
    _out(
        "-o",
        "--output",
        "output_file",
        type=PATH,
        metavar="FILE",
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
    **given: Any,
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
        named = (checks, given["table"], given["query"], given["where"], given["inputs"], *cells.values())
        if any(named) or roles != Roles():
            raise UsageError("A policy has its own checks, tables and roles: leave them out with -f.")
        in_contract = output_file is not None and output_file.suffix.lower() in _CONTRACT
        if in_contract and given["returns"] not in (None, Returns.COUNT):
            raise UsageError(f"A data contract counts what fails. Leave out --returns {given['returns']}.")
        returns = Returns.COUNT if in_contract else Returns(given["returns"] or Returns.ROW)
        wording = (dialect, exact_names, returns, given["run"] or "")
        return _of_policy(which, given["select"], wording, given["each_to"], output_file)
    if given["select"] or given["run"] or given["each_to"]:
        raise UsageError("--select, --run and --each-to need a policy: name it with -f.")
    target = _target(given["table"], given["query"], given["where"])
    answer = AnswerForm(Returns(given["returns"] or Returns.FIGURES))
    if any(cells.values()):
        compiled = compile_cells(target, checks, dialect=dialect, exact_names=exact_names, answer=answer, **cells)
    else:
        inputs = inputs_from(given["inputs"])
        compiled = compile_statements(
            target, roles, checks, dialect=dialect, inputs=inputs, exact_names=exact_names, answer=answer
        )
    _put(script(compiled, target, __version__), sum(1 for one in compiled if one.sql), output_file)
    return ExitCode.OK


def _of_policy(
    which: Mapping[str, Any],
    select: tuple[str, ...],
    wording: tuple[str, bool, Returns, str],
    folder: Path | None,
    output_file: Path | None,
) -> int:
    """Write the tests of a policy: each to a file of a folder, or all as a script."""
    from sqlaudit.gates.api import GateRequest
    from sqlaudit.gates.run import mistakes_of
    from sqlaudit.gates.run import select as selected
    from sqlaudit.gates.standalone.policies import Wording, contract_text, policy_script, policy_statements

    if folder is not None and output_file is not None:
        raise UsageError("--each-to and --output exclude each other: give one of them.")
    policy = GateRequest(**which).read()
    made = policy_statements(selected(policy.tables, select), Wording(*wording))
    mistakes = mistakes_of(policy)
    for mistake in mistakes:
        say(f"{mistake.place}: {mistake.message}")
    without = [one for one in made if not one.test_id]
    for one in without:
        if not one.spec.mistake:
            say(f"{one.spec.place}: {one.table.name}: {one.spec.requirement} is not written: {one.compiled.refused}")
    if not made:
        raise UsageError(f"{policy.file}: no tests to write.")
    written = sum(1 for one in made if one.test_id)
    if folder is not None:
        _to_folder(made, folder)
    elif output_file is not None and output_file.suffix.lower() in _CONTRACT:
        _put(contract_text(made, policy.file), written, output_file)
    else:
        _put(policy_script(made, policy.file, __version__), written, output_file)
    return ExitCode.USAGE if mistakes else ExitCode.REQUIREMENT_FAILED if without else ExitCode.OK


def _to_folder(made: Sequence[PolicyStatement], folder: Path) -> None:
    """Write each statement to a file with its name; files of other statements are told."""
    from sqlaudit.gates.standalone.policies import statement_text

    if not folder.is_dir():
        raise UsageError(f"There is no folder {str(folder)!r}. Make it first.")
    for one in made:
        if one.test_id:
            write_text(folder / f"{one.test_id}.sql", statement_text(one))
    written = {f"{one.test_id}.sql" for one in made if one.test_id}
    others = sum(1 for path in folder.glob("*.sql") if path.name not in written)
    also = f" The folder has {others} other .sql files, perhaps of an older policy." if others else ""
    tell(f"wrote {len(written)} statements to {str(folder)!r}.{also}")


def _put(text: str, number: int, output_file: Path | None) -> None:
    """Print a script, or write it to a file and say so."""
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
