"""The fifth screen: what is published, and the files that are written."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.app.levels import REMOVED, chosen_levels, words
from sqlaudit.app.project import ColumnRole, Project
from sqlaudit.app.screens import Form, Shown, change, decided_roles, write_project
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import check_destination, exists, expanded, no_name
from sqlaudit.reports.document import plural

if TYPE_CHECKING:
    from sqlaudit.app.window import Page, Window

ONLY_POLICY = "policy"
FILE_TYPES = {".xlsx": "Excel", ".csv": "CSV", ".sav": "SPSS", ".dta": "Stata", ".parquet": "Parquet"}


def show_release(page: Page) -> Shown:
    """Return what the fifth screen shows: the verdict on the release, its columns, and its file."""
    project, window = page.project, page.window
    roles = decided_roles(page)
    explored = None if roles is None else page.result("explore", policy=project.search(window.connection))
    if roles is None or explored is None:
        return {}
    levels, is_chosen = chosen_levels(project, explored)
    found = page.result("release", **_release_arguments(window, project)) if is_chosen else None
    if not is_chosen or (found is not None and not found["meets"]):
        page.redirect = "/safe"
        window.notice = "These levels do not meet your requirement. Choose a proposal, or coarser levels."
        return {}
    to = str(project.release.get("to", ""))
    types = {**FILE_TYPES, ONLY_POLICY: "Only a policy"}
    if window.connection is not None:
        types = {ONLY_POLICY: types[ONLY_POLICY], **FILE_TYPES}
    shown: dict[str, Any] = {
        "types": types,
        "type": Path(to).suffix.lower() if to else ONLY_POLICY,
        "to": to,
        "papers": window.papers,
        "project_file": window.project_file,
        "is_written": False,
        "policy": "",
    }
    if found is not None:
        shown |= {"found": found, **_changes(project, explored, found, levels)}
        shown |= {"k": project.limit("k"), "explored_rows": explored["rows"]}
        shown["unrevealed"] = [secret for text, secret in found["checks"] if secret and text.startswith("l=")]
    shown["is_written"] = _follow_writing(page)
    if window.kept == project and window.own_file is not None and (shown["is_written"] or not to):
        shown["policy"] = shlex.quote(str(window.own_file))
    return shown


def _follow_writing(page: Page) -> bool:
    """Return whether the release that is shown was written; note on the page if it is being written, or failed."""
    window = page.window
    if window.writing is None or window.writing[1] != page.project:
        return False
    is_running, outcome = window.jobs.ended(window.writing[0])
    if is_running:
        page.is_pending = True
    elif outcome is not None and outcome.error:
        page.failure = page.failure or outcome
    return outcome is not None and not outcome.error


def _release_arguments(window: Window, project: Project) -> Mapping[str, Any]:
    """Return the arguments of the audit of a release; they do not depend on the name of its file."""
    release = {key: value for key, value in project.release.items() if key != "to"}
    reveals = bool(project.with_role(ColumnRole.SECRET)) and project.limit("l") is None
    return {"policy": replace(project, release=release).policy(Path(), window.connection), "reveals": reveals}


def _changes(project: Project, explored: Shown, found: Shown, levels: Mapping[str, str]) -> Shown:
    """Return each column with what becomes of it, and how many different labels others may know before and after."""
    known = {column["name"]: column for column in explored["columns"]}
    changes = []
    for name, role in project.roles.items():
        before = after = 0
        if name not in found["columns"]:
            text = "removed" if role is not ColumnRole.IDENTIFIER else "removed, because it names people"
        elif name in known:
            column = known[name]
            at = column["levels"].index(levels[name])
            text = words(column, at) if levels[name] != REMOVED else f"removed: every cell is {REMOVED}"
            before, after = (column["groups"][0], column["groups"][at]) if column["groups"] else (0, 0)
        else:
            text = "as it is"
        changes.append((name, text, before, after))
    unit, units = ("person", "people") if project.with_role(ColumnRole.ENTITY) else ("row", "")
    before, after = explored["finest"]["smallest"], found["smallest"]
    strip = [
        ("Rows", f"{explored['rows']:,}", f"{found['rows']:,}"),
        ("Smallest group", plural(before, unit, units), plural(after, unit, units) if after else "–"),
        ("Groups", f"{explored['finest']['groups']:,}", f"{found['groups']:,}"),
    ]
    suspects = [name for name in project.release.get("keep_column", ()) if name in found["columns"]]
    return {"changes": changes, "strip": strip, "suspects": suspects, "most": max((c[2] for c in changes), default=0)}


@change("/write")
def write_release(window: Window, form: Form) -> tuple[Project, str, str]:
    """Choose the type and the name of the file, or write it."""
    project = window.history.project
    if not project.release.get("levels"):
        return project, "", "/safe"
    window.papers = frozenset(name for name in ("project", "report") if form.get(f"paper-{name}"))
    file = _release_file(window, project, form)
    release = {key: value for key, value in project.release.items() if key != "to"}
    changed = replace(project, release={**release, "to": file.as_posix()} if file else release)
    if not form.get("use"):
        return changed, "the file of the release", "/release"
    found = window.page("/release").result("release", **_release_arguments(window, project))
    if found is None or not found["meets"]:
        window.notice = "The release is still being checked. Write it when the check has ended."
    elif file is None:
        write_project(window, changed, window.project_file)
    else:
        _begin_writing(window, changed, file)
    return changed, "the file of the release", "/release"


def _begin_writing(window: Window, project: Project, file: Path) -> None:
    """Write the file of a release in the process of the window, after the project, if it is wanted.

    Raises:
        UsageError: a file is there already, or cannot be written.
    """
    report = file.with_suffix(".html") if "report" in window.papers else None
    for path in filter(None, (file, report)):
        check_destination(path)
        if exists(path):
            raise UsageError(f"{path.name!r} exists already, and no file is replaced. Choose another name.")
    if "project" in window.papers:
        write_project(window, project, window.project_file)
    policy = project.policy(Path(), window.connection)
    arguments = {"policy": policy, "file": str(file), "report": str(report or "")}
    job = {"task": "write", "place": window.place(project.read), "arguments": arguments, "step": window.history.number}
    window.writing = (job, project)
    window.jobs.result(job)


def _release_file(window: Window, project: Project, form: Form) -> Path | None:
    """Return the file that a form names, with the ending of its type; None for a policy only."""
    ending, typed = form.get("type", ""), form.get("path", "").strip()
    if ending not in FILE_TYPES:
        return None
    if not typed:
        return window.new_file(f"_release{ending}").absolute()
    if "\0" in typed:
        raise no_name(typed)
    folder = Path(project.file).parent if project.file else window.folders.shown
    path = folder / expanded(typed)
    if path.suffix.lower() == ending:
        return path
    return path.with_suffix(ending) if path.suffix.lower() in FILE_TYPES else path.with_name(path.name + ending)
