"""`sqlaudit verify`: a certificate run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.spec import Limits
from sqlaudit.cli.options import Work, inputs_from, limit_options, output_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.sections import Sectioned, in_section

_PATH = click.Path(path_type=Path)
_what, _trust, _show = (in_section(name) for name in ("What to look at", "Whom to trust", "Showing the work"))


@click.command(cls=Sectioned)
@click.argument("certificate", type=_PATH)
@click.argument("target", default="")
@_what("--db", metavar="DATABASE", help="Where the table is: a DuckDB or SQLite file, a PostgreSQL URL, or Spark.")
@_what("--where", default="", metavar="CONDITION", help="The condition of the audit, if it had one.")
@_what("--query", default="", metavar="SQL", help="The SELECT of the audit, if it had one.")
@_what("--inputs", type=_PATH, metavar="FILE", help="The further inputs of the audit, if it had some.")
@_trust("--key", type=_PATH, metavar="FILE", help="Whose signature it has to carry: a public Ed25519 key in PEM.")
@_trust("--trust-expressions", is_flag=True, help="Run any SQL expression of its roles; read them first.")
@_show("--show-sql", is_flag=True, help="Print every statement that runs, on stderr.")
@output_options
@limit_options
def command(certificate: Path, output: Output, limits: Limits, show_sql: bool, db: str | None, **given: Any) -> int:
    """Run CERTIFICATE again and say what differs.

    TARGET is the table or file, if it has another name now. SQL is made anew from the
    certificate's roles: no text of the file is run, except expressions in the place of columns,
    and of these only arithmetic, CASE and common functions.

    \b
      sqlaudit audit patients.csv --qi age,zip --require k=5 --certificate audit.json
      sqlaudit verify audit.json
      sqlaudit verify audit.json --key officer.pub.pem
    Exit code 0: everything is as it says, 1: something differs, 2: it cannot
    be run as written, 3: database trouble, 4: out of time.
    """
    from sqlaudit.certificates.asked import spec_from
    from sqlaudit.certificates.certificate import read_certificate
    from sqlaudit.certificates.making import Verification
    from sqlaudit.certificates.report import verify_document
    from sqlaudit.certificates.signing import public_key
    from sqlaudit.classes.inputs import further_targets
    from sqlaudit.cli.session import session

    found = read_certificate(certificate)
    key = public_key(given["key"]) if given["key"] is not None else None
    spec = spec_from(found["asked"], given["target"], given["where"], given["query"], inputs_from(given["inputs"]))
    if found["asked"]["database"] and db is None:
        raise click.UsageError("The certificate is of a table in a database: say with --db in which.")
    verification = Verification(certificate, found, spec, key, given["trust_expressions"])
    with session(db, limits, Work(show_sql=show_sql), spec.target, *further_targets(spec)) as engine:
        result = verification.run(engine)
    output.emit(lambda: verify_document(result), result.to_dict)
    return ExitCode.REQUIREMENT_FAILED if result.differences else ExitCode.OK
