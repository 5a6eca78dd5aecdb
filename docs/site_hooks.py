"""For mkdocs: pages that stand beside docs/ become part of the site, and so does every file that a page links to."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "", "SECURITY.md": "", "CHANGELOG.md": ""}
"""Pages at the top of the repository, with their names in the site where these are others."""
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add what stands elsewhere: the pages above, and the files that pages link to, under `files/`."""
    for name, called in PAGES.items():
        files.append(File.generated(config, called or name, content=(ROOT / name).read_text("utf-8")))
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in PAGES)]
    linked = {target for page in pages for target in _targets(page) if _place(target).startswith("files/")}
    for target in sorted(linked):
        files.append(File.generated(config, _place(target), content=(ROOT / target).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links of a page as they lead in the site."""
    at = page.file.src_uri
    source = next((name for name, called in PAGES.items() if (called or name) == at), f"docs/{at}")
    folder = posixpath.dirname(source)

    def led(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, found[1]))
        to = posixpath.relpath(_place(target), posixpath.dirname(at) or ".")
        return f"]({to}{found[2] or ''})"

    return LINK.sub(led, markdown)


def _targets(page: Path) -> set[str]:
    """The files that a page links to, from the top of the repository."""
    folder = page.parent.relative_to(ROOT).as_posix()
    found = (posixpath.normpath(posixpath.join(folder, link[1])) for link in LINK.finditer(page.read_text("utf-8")))
    return {name for name in found if (ROOT / name).is_file()}


def _place(target: str) -> str:
    """Where a file of the repository is in the site; a folder, which is none, at its README or as it stands."""
    if target in PAGES:
        return PAGES[target] or target
    if target.startswith("docs/") and not target.endswith((".py", ".csv", ".txt")):
        return target.removeprefix("docs/")
    return f"files/{target}"
