"""The SQL of this package, one file a question in `sql/`."""

from __future__ import annotations

import functools
from pathlib import Path

import jinja2


@functools.cache
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "sql")
    return jinja2.Environment(
        loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )


def text(template: str, **parameters: object) -> str:
    """A template with its parameters: names of our own and whole numbers.

    Example:
        >>> text("grouped.sql", source="people", columns=["q1", "s"]).count("q1, s")
        2
    """
    return _environment().get_template(template).render(**parameters).strip()
