"""Where a report is written: stdout has nothing but the report, and a file is complete or does not exist."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

import click

from sqlaudit.base.connection_texts import HIDDEN, without_connections
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import check_destination, is_file, replacing, write_text
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import SHOWN
from sqlaudit.base.publication import BucketPublication, Publication, TablePublication
from sqlaudit.cli.exits import ARGUMENTS, close_stdout, tell
from sqlaudit.reports.document import About, Document, Picture, ProposedCommand, in_encoding, visible, with_commands
from sqlaudit.reports.formats import BY_ENDING, format_by_ending, laid_out, render_json

PLAIN_WIDTH = 80
WIDEST = 100
OR_SAY_FORMAT = ", or say --format"


@dataclass(frozen=True)
class Output:
    """The format of a report and its file. No file: stdout."""

    format: str = "text"
    file: Path | None = None
    cover: About = field(default_factory=About)

    def emit(self, document: Callable[[], Document], data: Callable[[], Mapping[str, object]], sql: str = "") -> None:
        """Write the report.

        Args:
            document: makes the report for people. data: makes the report for programs.
            sql: a SELECT that stands after the report in text and Markdown, letter by letter.

        Raises:
            UsageError: the file cannot be written.
        """
        if self.format == "json":
            from sqlaudit.reports.stored import to_json as stored_document

            text = render_json({**data(), "report": stored_document(self.covered(document()))})
        else:
            covered = self.covered(document())
            text = laid_out(covered, self.format, self.width, self.colour, self.at_terminal and not sql)
            if sql and self.format == "markdown":
                text += f"\n```sql\n{sql};\n```\n"
            elif sql and self.format == "text":
                text += "\n" + "\n".join(map(visible, sql.splitlines())) + ";\n"
        self.write(text)

    def covered(self, document: Document) -> Document:
        """Return the document with the cover page of the caller, and with commands that run.

        Pages repeat the command that made them. Those that a report proposes read the same table in the same way.
        """
        about = {name: value for name, value in vars(self.cover).items() if value}
        document, context = with_given_options(document), _running_context()
        if context is not None and self.format in ("html", "json") and context.info_name != "console":
            about.setdefault("command", command_line(context))
        return replace(document, about=replace(document.about, **about)) if about else document

    def write(self, text: str) -> None:
        """Write a finished text."""
        if self.file is not None:
            write_text(self.file, text)
        else:
            print_data(text)

    @property
    def at_terminal(self) -> bool:
        """Return True if the report is printed at a terminal."""
        return self.file is None and sys.stdout.isatty()

    @property
    def width(self) -> int:
        """Return the columns for text: the terminal's, 80 in files and pipes."""
        if not self.at_terminal:
            return PLAIN_WIDTH
        return min(shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns, WIDEST)

    @property
    def colour(self) -> bool:
        """Return True if escape sequences may be used: on a terminal that has not declined them."""
        declined = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        return self.at_terminal and not declined


def _running_context() -> click.Context | None:
    """Return the context of the running command. None outside of one, and where a report is laid out again."""
    context = click.get_current_context(silent=True)
    return None if context is None or ARGUMENTS not in context.meta or context.info_name == "report" else context


def say_written(publication: Publication, rows: int, unit: str = "rows", release: str = "the release") -> None:
    """Print what was written to the file of a release, or which table was made, if it has one."""
    if publication.file is not None and not publication.table:
        what = f"the SELECT of {release}" if publication.only_sql else f"{rows:,} {unit}"
        tell(f"wrote {what} to {str(publication.file)!r}.")
    if isinstance(publication, TablePublication) and publication.table and publication.execute:
        tell(f"created the table {publication.table!r} of {rows:,} {unit}.")
    if isinstance(publication, BucketPublication) and publication.buckets is not None:
        tell(f"wrote the values of their buckets to {str(publication.buckets)!r}.")


def output_for(output_format: str | None, output_file: Path | None) -> Output:
    """Return the output for `--format` and `--output`, checked before any work begins.

    Raises:
        UsageError: the file cannot be written, or no format is chosen and its ending names none.
    """
    if output_file is None or str(output_file) == "-":
        return Output(output_format or "text")
    check_destination(output_file)
    return Output(output_format or format_by_ending(output_file, BY_ENDING, OR_SAY_FORMAT), output_file)


def print_data(text: str) -> None:
    """Print data on stdout. When its reader is gone, the rest is dropped and the exit code stays.

    Raises:
        UsageError: stdout cannot take it (a full disk).
    """
    try:
        click.echo(in_encoding(text, getattr(sys.stdout, "encoding", None)), nl=False, color=True)
        sys.stdout.flush()
    except BrokenPipeError:
        close_stdout()
    except OSError as error:
        close_stdout()
        raise UsageError(f"The report could not be written: {error.strerror}.") from None


def write_pictures(path: Path, pictures: Sequence[Picture]) -> None:
    """Draw pictures into an SVG file, which is complete or does not exist."""
    from sqlaudit.reports.charts import draw_file

    content = draw_file(pictures)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


# The command as a report may repeat it: without conditions, queries and databases on servers, and without the files
# that it wrote. What it proposes to run next reads the table as the command did.

_CONFIDENTIAL = ("--db", "--query", "--where", "--certificate-key")
_READING = "Input"
"""The section of the options that say what is read, and how."""
COVER = "Cover page"
"""The section of the options that say for whom a report is; a repeated command has none of them."""
_OUTPUT_OPTIONS = ("-o", "--output", "--format")


def command_line(context: click.Context) -> str:
    """Return the running command in one line."""
    words = (word for _, words in _visible_arguments(context) for word in _quoted(words))
    return " ".join(("sqlaudit", str(context.info_name), *words))


def _is_shown(option: click.Option | None, name: str, value: str) -> bool:
    """Return True if a report may show the value of an option: columns, numbers, words of a list, and files read."""
    if option is None or getattr(option, "writes", False) or name in _CONFIDENTIAL:
        return option is not None and name == "--db" and is_file(value)
    is_text = type(option.type) is click.types.StringParamType
    return name[2:].replace("-", "_") in SHOWN or not is_text or getattr(option, "section", "") == _READING


def _visible_arguments(context: click.Context) -> Iterator[tuple[click.Option | None, list[str]]]:
    """Yield the arguments of a command that a report may repeat, each with its option: … for what may be confidential.

    Options of the output are left out.
    """
    options = {
        name: option
        for option in context.command.params
        if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts)
    }
    remaining = list(context.meta[ARGUMENTS])
    while remaining:
        word = remaining.pop(0)
        name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
        option = options.get(name)
        if not word.startswith("-") or len(word) == 1:
            yield None, [without_connections(word)]
        elif option is not None and option.is_flag and not word.startswith("--"):  # others may follow it: -qo page.html
            remaining[:0] = [f"-{value}"] if value else []
            yield option, [name]
        elif option is not None and _takes_no_value(option, remaining) and not equals:
            yield option, [word]
        else:
            if not equals:  # the value is the next word
                value = remaining.pop(0) if remaining else ""
            if name not in _OUTPUT_OPTIONS and getattr(option, "section", "") != COVER:
                yield option, [name, value if _is_shown(option, name, value) else HIDDEN]


def _takes_no_value(option: click.Option, remaining: Sequence[str]) -> bool:
    """Return True for a flag, and for an option that may stand alone and does: the next word is an option."""
    may_stand_alone = not option.is_flag and isinstance(option.flag_value, str)
    return option.is_flag or option.count or (may_stand_alone and (not remaining or remaining[0].startswith("-")))


def _quoted(words: Iterable[str]) -> list[str]:
    """Return words as a shell takes them, apart from the mark for what is hidden."""
    return [word if word == HIDDEN else shlex.quote(word) for word in words]


def _options_of_table(option: click.Option, words: list[str], table: str, role: str) -> list[str]:
    """Return the words of an option as far as they are about the first of the tables that a command reads.

    Args:
        option, words: the option, its name and its value. table: the first table. role: its role in the command.
    """
    if option.name == "read_tables":
        name, colon, options = words[-1].partition(":")
        for name in (role, table, Path(table).name):
            if words[-1].startswith(f"{name}:"):
                return [words[0], "target:" + words[-1].removeprefix(f"{name}:")]
        return words if name == "target" and colon and options else []
    if not is_file(table):
        return words
    from sqlaudit.engines.duckdb.inputs import FORMATS_OF_OPTIONS
    from sqlaudit.engines.duckdb.paths import find_files

    formats = FORMATS_OF_OPTIONS.get(str(option.name))
    return words if formats is None or find_files(table, "").format in formats else []


def with_given_options(document: Document) -> Document:
    """Return the document with proposed commands that read what the running command reads, in the same way.

    The table is in their third word. A console has several tables, so there that one stays.
    """
    context = _running_context()
    if context is None:
        return document
    group, in_console = context.find_root().command, context.info_name == "console"
    assert isinstance(group, click.Group)
    arguments = list(_visible_arguments(context))
    first = next((words[0] for option, words in arguments if option is None), "")
    role = next((str(one.name) for one in context.command.params if isinstance(one, click.Argument)), "")

    def extend(command: ProposedCommand) -> ProposedCommand:
        program, name, table, *options = command.words
        proposed = group.get_command(context, name)
        known = (
            {flag for option in proposed.params for flag in (*option.opts, *option.secondary_opts)} if proposed else ()
        )
        reading, has_table = list[str](), in_console
        for option, words in arguments:
            if option is None and not has_table:
                reading, has_table = [*reading, *_quoted(words)], True
            elif option is not None and getattr(option, "section", "") == _READING and words[0] in known:
                reading += _quoted(words if in_console else _options_of_table(option, words, first, role))
        return replace(command, words=(program, name, *([table] if in_console else []), *reading, *options))

    return with_commands(document, extend)
