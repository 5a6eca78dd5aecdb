"""When a wheel is built, the templates go into it a second time: compiled, so that no run has to do that again."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledTemplates(BuildHookInterface[Any]):
    """Puts `sqlaudit/sql_compiled` into the wheel; an editable install reads the texts."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile into a folder of their own, which the builder takes from there."""
        self._folder = Path(tempfile.mkdtemp(prefix="sql_compiled"))
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from sqlaudit.base.sql import compile_templates

        compile_templates(self._folder)
        build_data["force_include"][str(self._folder)] = "sqlaudit/sql_compiled"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
