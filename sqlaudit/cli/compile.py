"""`sqlaudit compile`: checks as SQL for any warehouse; nothing is connected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sqlaudit.base.errors import ExitCode, UnknownFile, UsageError
from sqlaudit.base.files import check_destination, check_ending, write_text
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FILE, all_options_of, option, request_from
from sqlaudit.base.version import __version__
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.output import print_data
from sqlaudit.cli.policies import with_policy
from sqlaudit.cli.requests import OptionGroup, command_of, option_values, options_for, request_options
from sqlaudit.gates.standalone.request import CompileRequest, PolicyCompileRequest, Returns

if TYPE_CHECKING:
    from sqlaudit.gates.standalone.policies import PolicyStatement

_CONTRACT = (".yaml", ".yml")
_CHECK_OPTIONS = [option for option in all_options_of(CompileRequest) if not option.only_python]
_POLICY_OPTIONS = [*all_options_of(PolicyCompileRequest)]
_POLICY_NAMES = ("policy", "dbt_project", "dbt_target")


@dataclass(frozen=True)
class ScriptFiles:
    """The files that statements are written to.

    Args:
        each_to: a folder for a file for each statement of a policy.
        output_file: the file for all of them, None = stdout.
    """

    each_to: Path | None = option(
        None,
        FILE,
        "Write each statement to its own file in a folder.",
        "Policy instead of a table",
        metavar="FOLDER",
        writes=True,
    )
    output_file: Path | None = option(
        None,
        FILE,
        "Write the script to a file; with -f also .yaml, a data contract.",
        "Output",
        flags=("-o", "--output"),
        metavar="FILE",
        writes=True,
    )


def _request_of(*, checks: tuple[str, ...], **values: object) -> dict[str, CompileRequest | PolicyCompileRequest]:
    """Return the request for checks on a table, or for the tests of a policy if one is named.

    Raises:
        UsageError: both are asked for, or options of a policy without one.
    """
    request = request_from(CompileRequest, option_values(_CHECK_OPTIONS, values) | {"checks": checks})
    if all(values[name] is None for name in _POLICY_NAMES):
        if values["select"] or values["run"]:
            raise UsageError(_NEEDS_POLICY)
        return {"request": request}
    if request.has_table:
        raise UsageError("A policy has its own checks, tables and roles: leave them out with -f.")
    return {"request": request_from(PolicyCompileRequest, option_values(_POLICY_OPTIONS, with_policy(values)))}


_NEEDS_POLICY = "--select, --run and --each-to need a policy: name it with -f."
_requests = OptionGroup(
    _request_of,
    click.Argument(["checks"], metavar="[CHECK]...", nargs=-1),
    *(
        parameter
        for option in {option.name: option for option in (*_CHECK_OPTIONS, *_POLICY_OPTIONS)}.values()
        for parameter in options_for(option)
    ),
)
"""What is compiled; the command gets `request: CompileRequest | PolicyCompileRequest`."""


@command_of(_requests, request_options(ScriptFiles, "files"))
def command(request: CompileRequest | PolicyCompileRequest, files: ScriptFiles) -> int:
    """Write each check as one standalone SELECT for warehouses that sqlaudit does not connect to.

    A CHECK is a requirement (k=5, t=0.2, disclosure@1=0.8), or the name of a model to return its
    figures only. With --count or --value, CHECKs are rules for the cells of a published table
    (threshold=5). Default: all models that one SELECT can compute. Each statement returns one row
    with the figures and the verdict, and no values of the table. With --dimensions, the SELECT is
    that of a cube (`sqlaudit cube`), and CHECKs are rules for its blocks.

    With -f, write the tests of a policy. `sqlaudit test --results` then judges the results.
    Exit code 1: a test has no statement.

    \b
      sqlaudit compile --dialect snowflake --table release.patients \\
          --qi age,sex,zip --sensitive diagnosis k=5 t=0.2
      sqlaudit compile --dialect snowflake --table release.counts --count n threshold=5
      sqlaudit compile --dialect snowflake --table clinic.patients --dimensions age,sex \\
          --measures income --entity person threshold=10 p_percent=10
      sqlaudit compile --dialect snowflake -f sqlaudit.yml --each-to statements
    """
    file, is_policy = files.output_file, isinstance(request, PolicyCompileRequest)
    if file is not None:
        check_destination(file)
        check_ending(file, (".sql", ".txt", *(_CONTRACT if is_policy else ())))
    if isinstance(request, PolicyCompileRequest):
        return _write_policy(request, files)
    if files.each_to is not None:
        raise UsageError(_NEEDS_POLICY)
    _check_target(request)
    from sqlaudit.gates.standalone.checks import compile_request, script

    compiled = compile_request(request)
    text = script(compiled, request.target, __version__)
    _write_script(text, sum(1 for statement in compiled if statement.sql), file)
    return ExitCode.OK


def _write_policy(request: PolicyCompileRequest, files: ScriptFiles) -> int:
    """Write the tests of a policy, each to a file of a folder or all as one script. Return the exit code."""
    from sqlaudit.gates.api import read_policy
    from sqlaudit.gates.run import mistakes_of
    from sqlaudit.gates.run import select as selected
    from sqlaudit.gates.standalone.policies import Wording, contract_text, policy_script, policy_statements

    folder, output_file = files.each_to, files.output_file
    in_contract = output_file is not None and output_file.suffix.lower() in _CONTRACT
    if in_contract and request.returns not in (None, Returns.COUNT):
        raise UsageError(f"A data contract counts what fails. Leave out --returns {request.returns}.")
    if folder is not None and output_file is not None:
        raise UsageError("--each-to and --output exclude each other: give one of them.")
    returns = Returns.COUNT if in_contract else request.returns or Returns.ROW
    policy = read_policy(request.source)
    wording = Wording(request.dialect, request.exact_names, returns, request.run)
    statements = policy_statements(selected(policy.tables, request.source.select), wording)
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
    elif in_contract:
        _write_script(contract_text(statements, policy.file), written, output_file)
    else:
        _write_script(policy_script(statements, policy.file, __version__), written, output_file)
    return ExitCode.USAGE if mistakes else ExitCode.REQUIREMENT_FAILED if refused else ExitCode.OK


def _write_statements(statements: Sequence[PolicyStatement], folder: Path) -> None:
    """Write each statement to a file with its name. Print how many other statements the folder has."""
    from sqlaudit.gates.standalone.policies import statement_text
    from sqlaudit.reports.document import plural

    if not folder.is_dir():
        raise UnknownFile(f"There is no folder {str(folder)!r}. Make it first.")
    for statement in statements:
        if statement.test_id:
            write_text(folder / f"{statement.test_id}.sql", statement_text(statement))
    written = {f"{statement.test_id}.sql" for statement in statements if statement.test_id}
    others = sum(1 for path in folder.glob("*.sql") if path.name not in written)
    remark = f" The folder has {others} other .sql files, perhaps of an older policy." if others else ""
    tell(f"wrote {plural(len(written), 'statement')} to {str(folder)!r}.{remark}")


def _write_script(text: str, number: int, output_file: Path | None) -> None:
    """Print a script, or write it to a file and print that."""
    if output_file is None:
        print_data(text)
    else:
        from sqlaudit.reports.document import plural

        write_text(output_file, text)
        tell(f"wrote {plural(number, 'statement')} to {str(output_file)!r}.")


def _check_target(request: CompileRequest) -> None:
    """Raise UsageError unless a table or a query is named, and a condition only with a table."""
    if bool(request.table) == bool(request.query):
        raise UsageError("No table is given. Name it with --table, or give a SELECT with --query.")
    if request.query and request.where:
        raise UsageError("--where applies to a table: put the condition into --query.")
