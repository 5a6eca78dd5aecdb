"""Our own list of files: names only, of folders below home and the folder in which the window was started.

A page's file chooser gives the bytes of a file and not its path, so that a copy would be read. Here the path is chosen.
"""

from __future__ import annotations

from pathlib import Path

from sqlaudit.app.project import PROJECTS
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import is_folder, resolved
from sqlaudit.engines.duckdb.paths import format_of_name

_MOST = 2000


class Folders:
    """The folder that the list shows.

    Args:
        start: the folder in which the window was started.
    """

    def __init__(self, start: Path) -> None:
        self.roots = tuple(dict.fromkeys((start.resolve(), Path.home().resolve())))
        self.shown = self.roots[0]

    def enter(self, folder: Path) -> None:
        """Show another folder.

        Raises:
            UsageError: there is none, or it is not below home or the start.
        """
        path = resolved(folder)
        if not self._is_listed(path):
            raise UsageError("The list shows folders below your home folder. Type the path of a file elsewhere.")
        if not is_folder(path):
            raise UsageError("This folder is no longer there. Choose another one.")
        self.shown = path

    def listing(self) -> list[tuple[str, bool]]:
        """Return (name, True for a folder) of what can be chosen: folders first, then tables and projects.

        Raises:
            UsageError: the folder cannot be read.
        """
        try:
            entries = [(entry.name, entry.is_dir()) for entry in self.shown.iterdir() if not entry.name.startswith(".")]
        except OSError as error:
            raise UsageError(f"This folder cannot be read ({error.strerror}). Type the path of a file.") from None
        of_use = [
            (name, is_folder)
            for name, is_folder in entries
            if is_folder or format_of_name(name) or name.lower().endswith(PROJECTS)
        ]
        return sorted(of_use, key=lambda entry: (not entry[1], entry[0].casefold()))[:_MOST]

    def places(self) -> list[tuple[str, str]]:
        """Return (name, path) of the folders above the one that is shown, the highest first."""
        above = [folder for folder in (self.shown, *self.shown.parents) if self._is_listed(folder)]
        others = [root for root in self.roots if root not in above]
        return [(folder.name or str(folder), str(folder)) for folder in [*others, *reversed(above)]]

    def _is_listed(self, folder: Path) -> bool:
        return any(folder.is_relative_to(root) for root in self.roots)
