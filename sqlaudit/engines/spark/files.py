"""Files as Spark reads them: format by name, and the read options that Spark has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.spec import ReadOptions
from sqlaudit.base.words import spelled

_SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "csv"),
    **dict.fromkeys((".json", ".ndjson", ".jsonl"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    ".orc": "orc",
}
_PACKED = (".gz", ".zst", ".bz2")
_PARSED = ("csv", "json")
FORMATS = ("csv", "json", "parquet", "orc")
ALONE = {"recursiveFileLookup": True}
"""Read what is in the files, and nothing from the names of their folders."""


@dataclass(frozen=True)
class SparkFiles:
    """A path, glob or folder as Spark takes it, its format, and the options of the reader."""

    path: str
    format: str
    options: dict[str, Any]

    @property
    def parsed(self) -> bool:
        """Whether every reading parses text again."""
        return self.format in _PARSED


def looks_like_path(text: str) -> bool:
    """True for a text that can only be meant as files: it has a known suffix, a slash, a wildcard or a scheme."""
    return any(sign in text for sign in "/\\*?") or bool(_format(text))


def files(text: str, read: ReadOptions) -> SparkFiles:
    """The files that a path names, and how they are read.

    A malformed line is an error, and never a row of NULLs; the first line of a CSV file has the names.

    Raises:
        UsageError: a format or an option that Spark does not have.
    """
    format_name = read.format or _format(text) or ("parquet" if Path(text).is_dir() else "")
    if format_name not in FORMATS:
        raise UsageError(f"Spark reads Parquet, ORC, CSV and JSON files; {text!r} has the name of none of these.")
    path = text if "://" in text else str(Path(text).absolute())
    by_folder = _folders(path, read)
    if format_name == "csv":
        return SparkFiles(path, format_name, _csv(text, read) | by_folder)
    allowed = ("all_text", "hive_partitioning") if format_name == "json" else ("hive_partitioning",)
    refuse_read_options(read, f"{format_name} on Spark", allowed)
    if format_name == "json":
        options = {"mode": "FAILFAST", "primitivesAsString": read.all_text, "multiLine": _is_one_document(text)}
        return SparkFiles(path, format_name, options | by_folder)
    return SparkFiles(path, format_name, by_folder)


def _folders(path: str, read: ReadOptions) -> dict[str, Any]:
    """The options that read folders named `column=value` from the first one on, or keep Spark from reading any."""
    if not read.hive_partitioning:
        return ALONE
    parts = path.split("/")
    first = next((i for i, part in enumerate(parts) if "=" in part or any(sign in part for sign in "*?[{")), None)
    return {} if first is None else {"basePath": "/".join(parts[:first]) or "/"}


def below_folders(inputs: Iterable[str]) -> list[Path]:
    """The paths of the files that lie in folders named `column=value`, from their addresses as Spark tells them."""
    paths = [Path(unquote(urlsplit(address).path)) for address in inputs]
    return [path for path in paths if any("=" in folder for folder in path.parts[:-1])]


def from_item(found: SparkFiles) -> str:
    """The files as a FROM item of Spark; empty for texts, which are read with options.

    Example:
        >>> from_item(SparkFiles("/data/people.parquet", "parquet", {}))
        'parquet.`/data/people.parquet`'
    """
    return "" if found.parsed else found.format + "." + quote(found.path, "spark")


def refuse_read_options(read: ReadOptions, what: str, allowed: tuple[str, ...] = ()) -> None:
    """Read options are for text files.

    Raises:
        UsageError: one was given.
    """
    given = [f.name for f in fields(read) if f.name != "format" and getattr(read, f.name) != f.default]
    refused = [name.replace("_", " ") for name in given if name not in allowed]
    if refused:
        raise UsageError(f"The option {refused[0]!r} says how text files are read; it has no meaning for {what}.")


def _csv(text: str, read: ReadOptions) -> dict[str, Any]:
    if len(read.null_values) > 1:
        raise UsageError(
            f"Spark takes one text that means NULL ({spelled('null_values')}); give one, or a query with NULLIF."
        )
    name = text.lower()
    tabs = any(name.removesuffix(packed).endswith((".tsv", ".tab")) for packed in ("", *_PACKED))
    options: dict[str, Any] = {
        "header": read.header is not False,
        "inferSchema": not read.all_text,
        "enforceSchema": False,
        "mode": "FAILFAST",
        "multiLine": True,
        "escape": '"',
        "sep": read.delimiter or ("\t" if tabs else ","),
    }
    if read.encoding:
        options["encoding"] = read.encoding
    if read.null_values:
        options["nullValue"] = read.null_values[0]
    return options


def _format(text: str) -> str:
    name = Path(text.lower())
    suffix = name.with_suffix("").suffix if name.suffix in _PACKED else name.suffix
    return _SUFFIXES.get(suffix, "")


def _is_one_document(text: str) -> bool:
    """Whether a JSON file holds one array rather than one object a line; files elsewhere are taken as lines."""
    path = Path(text)
    if not path.is_file() or path.suffix.lower() in _PACKED:
        return False
    with path.open("rb") as file:
        return file.read(512).lstrip().startswith(b"[")
