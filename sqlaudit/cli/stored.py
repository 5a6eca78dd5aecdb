"""`sqlaudit report`, `verify`: lay out a stored result, or run a stored certificate again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode, InputError, UsageError, unreadable_file
from sqlaudit.base.spec import Limits
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.options import Trace, cover_options, limit_options, output_options, trace_options
from sqlaudit.cli.output import Output, output_for, write_pictures
from sqlaudit.cli.requests import PATH, command_of, in_section, inputs_from
from sqlaudit.engines.writing import refuse_overwriting
from sqlaudit.reports.document import About, Document, Picture
from sqlaudit.reports.stored import from_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# `sqlaudit report`: a stored result laid out again, without the table it came from.

_output_option = in_section("Output")


@command_of(
    click.Argument(["result"], type=PATH),
    _output_option(
        "--format", "chosen", type=click.Choice(["html", "markdown", "text"]), help="Default: html, or by --output."
    ),
    _output_option(
        "-o", "--output", "file", type=PATH, metavar="FILE", writes=True, help="Default: RESULT with the ending .html."
    ),
    _output_option(
        "--pictures", type=PATH, metavar="DIR", writes=True, help="Also write each picture into DIR, as SVG."
    ),
    cover_options,
)
def report(result: Path, chosen: str | None, file: Path | None, pictures: Path | None, cover: About) -> int:
    """Lay out RESULT, a file that any command wrote with --format json, as a page.

    The page holds what the result holds: values that were hidden stay hidden.

    \b
    sqlaudit audit patients.csv --qi age,zip --format json --output result.json
    sqlaudit report result.json
    sqlaudit report result.json --pictures figures
    """
    document = read_document(result)
    if chosen in (None, "html") and file is None:
        file = result.with_suffix(".html")
    refuse_overwriting([file], [result])
    output = replace(output_for(chosen, file), cover=cover)
    if output.format == "json":
        raise UsageError(f"{file}: {result} is JSON already; write to a file that ends in .html, .md or .txt.")
    output.emit(lambda: document, dict)
    if output.file is not None:
        tell(f"wrote {str(output.file)!r}")
    if pictures is not None:
        _write_pictures(document, pictures, (result, *([output.file] if output.file else ())))
    return ExitCode.OK


def _write_pictures(document: Document, folder: Path, read_files: Sequence[Path]) -> None:
    """Write each picture of the report to a file, numbered in the order of the page: 01-curves.svg, 02-sizes.svg.

    Raises:
        UsageError: the folder cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{str(folder)!r} cannot be made a folder: {error.strerror}.") from None
    blocks = [block for section in document.sections for block in section.blocks]
    drawings = [block for block in blocks if isinstance(block, Picture)]
    for number, picture in enumerate(drawings, 1):
        file = folder / f"{number:02}-{picture.kind}.svg"
        refuse_overwriting([file], read_files)
        write_pictures(file, [picture])
        tell(f"wrote {str(file)!r}")
    if not drawings:
        say(f"The report has no pictures: nothing was written to {str(folder)!r}.")


def read_document(path: Path) -> Document:
    """Return the document in a JSON file.

    Raises:
        InputError: the file cannot be read, or is not the result of a command.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable_file(path, error) from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: is not JSON. Make it with --format json --output {path.name}.") from None
    if not isinstance(content, dict) or "report" not in content:
        raise InputError(f"{path}: is not a stored report. Make it with --format json --output {path.name}.")
    return from_json(content["report"])


# `sqlaudit verify`: a certificate run again.

_input_option, _trust_option = (in_section(name) for name in ("Input", "Trust"))


@command_of(
    click.Argument(["certificate"], type=PATH),
    click.Argument(["target"], default=""),
    _input_option(
        "--db", metavar="DATABASE", help="Database of the table: a DuckDB or SQLite file, a PostgreSQL URL, or Spark."
    ),
    _input_option("--where", default="", metavar="CONDITION", help="Condition of the audit, if any."),
    _input_option("--query", default="", metavar="SQL", help="SELECT of the audit, if any."),
    _input_option("--inputs", type=PATH, metavar="FILE", help="Further inputs of the audit, if any."),
    _input_option("--cube", type=PATH, metavar="FILE", help="File of a cube, if it is not beside its certificate."),
    _input_option("--hierarchies", metavar="FILE|DIR", help="Hierarchies of a cube, if any."),
    _trust_option("--key", type=PATH, metavar="FILE", help="Public Ed25519 key (PEM) of the required signature."),
    _trust_option(
        "--trust-expressions",
        is_flag=True,
        help="Allow any SQL expression in the certificate's roles. Read them first.",
    ),
    trace_options,
    output_options,
    limit_options,
)
def verify(certificate: Path, output: Output, limits: Limits, trace: Trace, db: str | None, **options: Any) -> int:
    """Repeat the audit of a certificate and report differences.

    TARGET is the table or file, if its name has changed. SQL is recomputed from the certificate's
    roles. No text of the file is run, except expressions in place of columns, and of these only
    arithmetic, CASE and common functions. The certificate of a cube is compared with the cube's
    file; with TARGET, the cube is also made again from that table.

    \b
      sqlaudit audit patients.csv --qi age,zip --require k=5 --certificate audit.json
      sqlaudit verify audit.json
      sqlaudit verify audit.json --key officer.pub.pem
      sqlaudit verify cube.json patients.csv
    Exit code 0: the table matches the certificate, 1: it differs, 2: invalid
    certificate or request, 3: database error, 4: time limit reached.
    """
    from sqlaudit.certificates.certificate import (
        CUBE_SCHEMA,
        SCHEMA,
        read_certificate,
        read_public_key,
        read_schema,
        request_from_certificate,
    )
    from sqlaudit.certificates.making import Verification
    from sqlaudit.classes.inputs import further_targets
    from sqlaudit.cli.session import session
    from sqlaudit.reports.notebook import document_of

    key = read_public_key(options["key"]) if options["key"] is not None else None
    if read_schema(certificate, SCHEMA, CUBE_SCHEMA)["schema"] == CUBE_SCHEMA:
        return _verify_cube(certificate, output, limits, trace, db, key, options)
    if options["cube"] or options["hierarchies"]:
        raise click.UsageError("--cube and --hierarchies are for the certificate of a cube, and this is of an audit.")
    content = read_certificate(certificate)
    texts = (options["target"], options["where"], options["query"])
    inputs = {} if options["inputs"] is None else inputs_from(options["inputs"])
    request = request_from_certificate(content["request"], *texts, inputs)
    if content["request"]["database"] and db is None:
        raise click.UsageError("The certificate covers a table in a database: name the database with --db.")
    verification = Verification(certificate, content, request, key, options["trust_expressions"])
    others = further_targets(request.inputs, request.target)
    with session(db, limits, trace, request.target, *others) as engine:
        result = verification.run(engine)
    output.emit(lambda: document_of(result), result.to_dict)
    return ExitCode.REQUIREMENT_FAILED if result.differences else ExitCode.OK


def _verify_cube(
    certificate: Path,
    output: Output,
    limits: Limits,
    trace: Trace,
    db: str | None,
    key: Ed25519PublicKey | None,
    options: Mapping[str, Any],
) -> int:
    """Compare the certificate of a cube with its file, and with its table if that is named."""
    from sqlaudit.cli.session import session
    from sqlaudit.gates.cube_certificate import CubeVerification, read_cube_certificate, request_of_certificate
    from sqlaudit.hierarchies.read import read_hierarchies
    from sqlaudit.reports.notebook import document_of

    content = read_cube_certificate(certificate)
    if options["inputs"]:
        raise click.UsageError("--inputs is for the certificate of an audit, and this is of a cube.")
    with_table = bool(options["target"] or options["query"] or db is not None)
    if with_table and content["request"]["database"] and db is None:
        raise click.UsageError("The certificate covers a table in a database: name the database with --db.")
    missing = [name for name in ("where", "query") if with_table and content["request"][name] and not options[name]]
    if missing:
        raise click.UsageError(
            "The cube is of rows that were selected with SQL that the certificate does not contain. Give the same text "
            f"with --{missing[0]}."
        )
    hierarchies = read_hierarchies(options["hierarchies"]) if options["hierarchies"] else None
    if with_table and content["request"]["hierarchies"] and hierarchies is None:
        raise click.UsageError("The cube was made with hierarchies, which its certificate lacks: add --hierarchies.")
    texts = (options["target"], options["where"], options["query"])
    request = request_of_certificate(content["request"], *texts, hierarchies)
    file = options["cube"] or certificate.parent / content["snapshot"]["name"]
    verification = CubeVerification(certificate, content, file, request, with_table, key, options["trust_expressions"])
    with session(db, limits, trace, *([request.target] if with_table else [])) as engine:
        result = verification.run(engine)
    output.emit(lambda: document_of(result), result.to_dict)
    return ExitCode.REQUIREMENT_FAILED if result.differences else ExitCode.OK
