"""The commands of the console, by name, in the order of the help."""

from __future__ import annotations

from collections.abc import Mapping

from sqlaudit.cli.console.commands import about_data, about_session, ask, change, classes, roles, write
from sqlaudit.cli.console.session import Command

GROUPS: Mapping[str, tuple[Command, ...]] = {
    "The data": about_data.COMMANDS,
    "Roles, and what must hold": roles.COMMANDS,
    "Questions about the current relation": ask.COMMANDS,
    "What if?": (*change.COMMANDS, *classes.COMMANDS),
    "Writing": write.COMMANDS,
    "The console": about_session.COMMANDS,
}
COMMANDS: Mapping[str, Command] = {command.name: command for group in GROUPS.values() for command in group}
"""Every command by its name."""
