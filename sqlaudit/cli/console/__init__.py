"""The SQL console: statements, commands and roles over one read-only connection; the terminal is one way to use it."""

from sqlaudit.cli.console.command import command

__all__ = ["command"]
