"""The fourth screen: the level of each column, what a combination of levels costs, and the picture of all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.app.project import ColumnRole, Project
from sqlaudit.app.screens import Form, Shown, change, decided_roles
from sqlaudit.base.errors import UsageError
from sqlaudit.base.numbers import exact_share
from sqlaudit.engines.duckdb.paths import format_of_name
from sqlaudit.reports.document import limit as exact
from sqlaudit.reports.document import percent, plural, with_share

if TYPE_CHECKING:
    from sqlaudit.app.window import Page, Window

REMOVED = "*"
_LEFT, _TOP, _WIDTH, _HEIGHT = 44, 14, 286, 180
"""The frame of the picture, in the units of its drawing."""
_STEPS = (1, 2, 5, 10, 20, 25, 50)
ENDINGS = {"excel": ".xlsx", "spss": ".sav", "stata": ".dta", "parquet": ".parquet"}
"""The ending of a release, by the format of the original; of others it is .csv."""


def share_of(project: Project) -> Fraction:
    """Return the share of the rows that may be left out."""
    return exact_share(project.left_out)


def words(column: Shown, level: int) -> str:
    """Return what a level of a column is called; never by a name that a person gave to groups."""
    name = column["levels"][level]
    if level == 0:
        return "as it is"
    if name == REMOVED:
        return "removed"
    if name.startswith("listed"):
        return plural(column["groups"][level], "group") if column["groups"] else f"groups of level {level}"
    example = column["examples"][level]
    return f"{name}, such as {example}" if example else str(name)


def chosen_levels(project: Project, explored: Shown) -> tuple[dict[str, str], bool]:
    """Return the level of each column by name, and whether a person chose them; else those of the first proposal."""
    chosen = project.release.get("levels", {})
    columns = explored["columns"]
    named = {column["name"]: _level_name(column, str(chosen.get(column["name"], ""))) for column in columns}
    if chosen and all(named.values()):
        return named, True
    first = (*explored["proposals"], explored["coarsest"])[0]["levels"]
    return {column["name"]: column["levels"][level] for column, level in zip(columns, first, strict=True)}, False


def _level_name(column: Shown, level: str) -> str:
    """Return the name of a level that a policy states by its name or number; empty if the column has none such."""
    levels: Sequence[str] = column["levels"]
    if level in levels:
        return level
    return levels[int(level)] if level.isascii() and level.isdecimal() and int(level) < len(levels) else ""


def show_levels(page: Page) -> Shown:
    """Return what the fourth screen shows: proposals, the levels, and the verdict on just these."""
    project, window = page.project, page.window
    if decided_roles(page) is None:
        return {}
    policy = project.search(window.connection)
    explored = page.result("explore", policy=policy)
    if explored is None:
        return {}
    levels, is_chosen = chosen_levels(project, explored)
    node = page.result("combination", policy=policy, levels=levels)
    columns = []
    for number, column in enumerate(explored["columns"]):
        level = levels[column["name"]]
        at = column["levels"].index(level)
        options = [(place, words(column, place)) for place in range(len(column["levels"]))]
        groups = column["groups"][at] if column["groups"] else 0
        facts = {"number": number, "options": options, "at": at, "groups": groups, "level": level}
        columns.append({"name": column["name"], **facts})
    shown: dict[str, Any] = {
        "explored": explored,
        "columns": columns,
        "proposals": [_proposal(explored, one, levels) for one in explored["proposals"]],
        "share": exact(100 * share_of(project)),
        "node": node,
        "has_entity": bool(project.with_role(ColumnRole.ENTITY)),
        "is_replaced": bool(project.release.get("levels")) and not is_chosen,
        "labels": None,
        "picture": plot(explored, node, share_of(project)),
    }
    if node is not None:
        shown["beside"] = _beside(project, explored, node)
    if window.asked is not None and window.asked[2] == window.history.number:
        shown["labels"] = page.result("labels", policy=policy, column=window.asked[0], level=window.asked[1])
        shown["asked"] = window.asked[0]
    return shown


def _proposal(explored: Shown, node: Shown, levels: Mapping[str, str]) -> dict[str, Any]:
    """Return a proposal with its consequences: each column that changes, and the rows that are left out."""
    pairs = list(zip(explored["columns"], node["levels"], strict=True))
    changes = [f"{column['name']}: {words(column, level)}" for column, level in pairs if level]
    return {
        "name": node["name"],
        "levels": ",".join(map(str, node["levels"])),
        "changes": changes,
        "left_out": plural(node["left_out"], "row"),
        "loss": percent(node["loss"]),
        "is_shown": all(column["levels"][level] == levels[column["name"]] for column, level in pairs),
    }


def _beside(project: Project, explored: Shown, node: Shown) -> list[tuple[str, str, str]]:
    """Return the figures of a combination beside those of the table as it is."""
    unit = "person" if project.with_role(ColumnRole.ENTITY) else "row"
    units = {"person": "people"}.get(unit, "")
    before = explored["finest"]["smallest"]
    after = node["smallest_left"] if node["left_out"] else node["smallest"]
    figures = [("Smallest group", plural(before, unit, units), "–" if after is None else plural(after, unit, units))]
    if not project.sampling[0] and not project.with_role(ColumnRole.WEIGHTS):
        figures.append(("Highest risk", f"1 in {before:,}", "–" if after is None else f"1 in {after:,}"))
    figures.append(("Rows left out", "–", with_share(node["left_out"], explored["rows"])))
    figures.append(("Detail lost", "0%", "–" if node["loss"] is None else percent(node["loss"])))
    return figures


def plot(explored: Shown, node: Shown | None, share: Fraction) -> Shown:
    """Return the places of a picture: rows left out against detail lost, of the combinations.

    Args:
        explored: all combinations. node: the shown one. share: of the rows that may be left out.
    """
    rows = max(1, explored["rows"])
    shown = 0 if node is None else node["left_out"] / rows
    tall = min(1.0, max(0.05, 3 * float(share), 1.1 * shown))
    wide = min(1.0, max(0.1, 1.05 * max((one["loss"] or 0) for one in (explored["coarsest"], *explored["frontier"]))))

    def place(loss: float, left_out: int) -> tuple[float, float]:
        height = _HEIGHT * (1 - left_out / rows / tall)
        return round(_LEFT + _WIDTH * min(loss, wide) / wide, 1), round(_TOP + height, 1)

    line = [one for one in explored["frontier"] if one["left_out"] <= tall * rows]
    choices = [
        {
            "levels": ",".join(map(str, one["levels"])),
            "words": f"{plural(one['left_out'], 'row')} left out, {percent(one['loss'])} of detail lost",
            "at": place(one["loss"], one["left_out"]),
            "is_shown": node is not None and one["levels"] == node["levels"],
        }
        for one in line
    ]
    dots = [
        (*place(loss, left), "safe" if meets else "") for loss, left, meets in explored["dots"] if left <= tall * rows
    ]
    return {
        "frame": (_LEFT, _TOP, _WIDTH, _HEIGHT),
        "limit": place(0, explored["limit_rows"])[1],
        "has_limit": explored["limit_rows"] <= tall * rows,
        "dots": dots,
        "choices": choices,
        "shown": None if node is None or node["loss"] is None else place(node["loss"], node["left_out"]),
        "x": [(place(tick, 0)[0], f"{100 * tick:g}%") for tick in _ticks(wide)],
        "y": [(round(_TOP + _HEIGHT * (1 - tick / tall), 1), f"{100 * tick:g}%") for tick in _ticks(tall)],
    }


def _ticks(most: float) -> list[float]:
    """Return at most six round shares from 0 to the end of an axis."""
    step = next((step for step in _STEPS if 100 * most / step <= 5), _STEPS[-1])
    return [step * number / 100 for number in range(int(100 * most / step + 1e-9) + 1)]


@change("/levels")
def change_levels(window: Window, form: Form) -> tuple[Project, str, str]:
    """Change the levels of columns and how many rows may be left out, one by one or as a proposal has them."""
    page, project = window.page("/safe"), window.history.project
    explored = page.result("explore", policy=project.search(window.connection))
    if explored is None:
        return project, "", "/safe"
    columns = explored["columns"]
    old, is_chosen = chosen_levels(project, explored)
    numbers: Sequence[str] = form.get("choose", "").split(",")
    if "choose" not in form:
        numbers = [form.get(f"level-{number}", "") for number in range(len(columns))]
    levels = dict(old)
    for column, text in zip(columns, numbers, strict=False):
        if text.isascii() and text.isdecimal() and int(text) < len(column["levels"]):
            levels[column["name"]] = column["levels"][int(text)]
    share = share_of(project)
    if "share" in form and not project.with_role(ColumnRole.ENTITY):
        number = form["share"].strip().removesuffix("%").strip().replace(",", ".")
        if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,4})?", number) or Fraction(number) > 100:
            raise UsageError("Type how many percent of the rows may be left out, from 0 to 100: 2.")
        share = Fraction(number) / 100
    differing = [column for column in columns if levels[column["name"]] != old[column["name"]]]
    if not differing and share == share_of(project) and not form.get("use"):
        return project, "", "/safe"
    if len(differing) == 1:
        column = differing[0]
        label = f"{column['name']} {words(column, column['levels'].index(levels[column['name']]))}"
    elif differing:
        label = f"levels of {len(differing)} columns"
    else:
        label = "the proposed levels" if share == share_of(project) else f"{exact(100 * share)}% may be left out"
    changed = with_levels(window, project, explored, levels if differing or is_chosen or form.get("use") else {}, share)
    return changed, label, "/release" if form.get("use") else "/safe"


def with_levels(
    window: Window, project: Project, explored: Shown, levels: Mapping[str, str], share: Fraction
) -> Project:
    """Return the project with levels, and with all that a later run needs to make the same release."""
    to = project.release.get("to", "")
    if not project.release.get("levels") and project.file and not to:
        ending = ENDINGS.get(format_of_name(Path(project.file).name) or "", ".csv")
        to = window.new_file(f"_release{ending}").absolute().as_posix()
    release = {
        "hierarchies": explored["hierarchies"],
        "levels": dict(levels),
        "suppress": f"{exact(100 * share)}%",
        "keep_column": explored["suspects"],
        "to": to,
    }
    return replace(project, release={key: value for key, value in release.items() if value})


@change("/labels")
def ask_for_labels(window: Window, form: Form) -> tuple[Project, str, str]:
    """Show the labels of a column at its level, or no longer."""
    window.asked = None
    if form.get("column"):
        window.asked = (form["column"], form.get("level", ""), window.history.number)
    return window.history.project, "", "/safe"
