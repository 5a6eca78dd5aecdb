"""The commands of the console, by name, in the order of the help."""

from __future__ import annotations

from collections.abc import Mapping

from sqlaudit.cli.console.commands import ask, explore, roles, write
from sqlaudit.cli.console.session import ConsoleCommand

GROUPS: Mapping[str, tuple[ConsoleCommand, ...]] = {
    "Data": explore.DATA,
    "Roles and requirements": roles.ROLES,
    "Audits of the current relation": ask.COMMANDS,
    "What if?": (*roles.CHANGES, *explore.CLASSES),
    "Writing": write.COMMANDS,
    "Console": explore.SESSION,
}
