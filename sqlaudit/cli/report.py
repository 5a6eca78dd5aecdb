"""`sqlaudit report`: a stored result laid out again, without the table it came from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from sqlaudit.base.errors import ExitCode, InputError, UsageError
from sqlaudit.base.files import replacing
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.options import cover_options
from sqlaudit.cli.output import output_for
from sqlaudit.cli.sections import Sectioned, in_section
from sqlaudit.engines.overwriting import refuse_overwriting
from sqlaudit.reports.blocks import Picture
from sqlaudit.reports.document import About, Document
from sqlaudit.reports.page.pictures import draw_file
from sqlaudit.reports.stored import from_json

_out = in_section("Output")


@click.command(cls=Sectioned)
@click.argument("result", type=click.Path(path_type=Path))
@_out("--format", "chosen", type=click.Choice(["html", "markdown", "text"]), help="Default: html, or by --output.")
@_out(
    "-o",
    "--output",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Default: RESULT with the ending .html.",
)
@_out("--pictures", type=click.Path(path_type=Path), metavar="DIR", help="Also write each picture as a file into DIR.")
@_out("--picture-format", type=click.Choice(["svg", "png"]), default="svg", show_default=True, help="With --pictures.")
@cover_options
def command(
    result: Path, chosen: str | None, file: Path | None, pictures: Path | None, picture_format: str, cover: About
) -> int:
    """Lay out RESULT, a file that any command wrote with --format json, as a page.

    The page holds what the result holds: values that were hidden stay hidden.

    \b
    sqlaudit audit patients.csv --qi age,zip --format json --output result.json
    sqlaudit report result.json
    sqlaudit report result.json --pictures figures --picture-format png
    """
    document = stored(result)
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
        _write_pictures(document, pictures, picture_format, (result, *([output.file] if output.file else ())))
    return ExitCode.OK


def _write_pictures(document: Document, folder: Path, kind: str, kept: Sequence[Path]) -> None:
    """Every picture of the report as a file, numbered in the order of the page: 01-curves.svg, 02-sizes.svg.

    Raises:
        UsageError: the folder cannot be made or written to. MissingDriver: matplotlib is not installed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{str(folder)!r} cannot be made a folder: {error.strerror}.") from None
    blocks = [block for section in document.sections for block in section.blocks]
    drawings = [block for block in blocks if isinstance(block, Picture)]
    for number, picture in enumerate(drawings, 1):
        file = folder / f"{number:02}-{picture.kind}.{kind}"
        refuse_overwriting([file], kept)
        with replacing(file) as temporary:
            temporary.write_bytes(draw_file(picture, kind))
        tell(f"wrote {str(file)!r}")
    if not drawings:
        say(f"The report has no pictures: nothing was written to {str(folder)!r}.")


def stored(path: Path) -> Document:
    """The document in a file of JSON.

    Raises:
        InputError: the file cannot be read, or is not the result of a command.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: is not JSON. Make it with --format json --output {path.name}.") from None
    if not isinstance(data, dict) or "report" not in data:
        raise InputError(f"{path}: holds no report. Make it with --format json --output {path.name}.")
    return from_json(data["report"])
