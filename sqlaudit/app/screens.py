"""The screens: what each shows of the project, and what its forms change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.app.project import PROJECTS, ROLE_WORDS, SINGLE, ColumnRole, Project, is_ours, read_project, roles_by_key
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import exists, expanded, is_file, is_folder, no_name, only_new_files, write_text
from sqlaudit.base.names import closest
from sqlaudit.base.options import options_of, request_from
from sqlaudit.base.spec import DATE_ORDERS, ReadOptions, Sampling
from sqlaudit.engines.duckdb.paths import format_of_name
from sqlaudit.models.presets import presets
from sqlaudit.models.registry import parse_requirement
from sqlaudit.reports.document import listing, percent, plural

if TYPE_CHECKING:
    from sqlaudit.app.window import Page, Window

Form = Mapping[str, str]
Shown = Mapping[str, Any]


@dataclass(frozen=True)
class AppScreen:
    """A screen of the window.

    Args:
        path: its address, and the name of its template. step: its name in the row of steps. show: returns what its
            template shows. next: the text of the primary button, which submits the form `main`; empty = the template
            has none. ready: True if the project has come as far as this screen.
    """

    path: str
    step: str
    show: Callable[[Page], Shown]
    next: str
    ready: Callable[[Project], bool]


Change = Callable[["Window", Form], tuple[Project, str, str]]
CHANGES: dict[str, Change] = {}
"""What forms change, by their address: from the window and the form to the new project, what changed, and the address
of the next page."""


def change(path: str) -> Callable[[Change], Change]:
    """Register what the form of an address changes."""

    def register(function: Change) -> Change:
        CHANGES[path] = function
        return function

    return register


# Screen 1: which table, and how its file is read.

_ENCODINGS = ("utf-8", "windows-1252", "latin-1", "utf-16")
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
OF_FORMAT = {
    "csv": ("header", "skip", "delimiter", "encoding", "decimal", "date_order", "null_values", "all_text"),
    "excel": ("sheet", "header", "skip", "null_values", "all_text"),
    "spss": ("encoding", "null_values", "labels"),
    "stata": ("encoding", "null_values", "labels"),
    "sas": ("encoding", "null_values"),
}
"""The options for reading that the screen offers, by the format of the file."""


def show_open(page: Page) -> Shown:
    """Return what the first screen shows: a list of folders, or the chosen table."""
    project, window = page.project, page.window
    if not project.has_table:
        return {"folders": window.folders.listing(), "folder": window.folders.shown, "places": window.folders.places()}
    if project.table:
        return {"described": page.result("describe", sets=False)}
    read = page.reading()
    described = None if read is None else page.result("describe", sets=False)
    format = format_of_name(Path(project.file).name) or "csv"
    return {
        "sheets": page.sheets(),
        "read": read,
        "offered": OF_FORMAT.get(format, ()),
        "titles": 0 if project.is_read or read is None else read.skip,
        "described": described,
        "encodings": _ENCODINGS,
        "delimiters": _DELIMITERS,
        "date_orders": DATE_ORDERS,
        "is_special": read is not None and bool(read.given - {"sheet", "skip", "header"}),
        "wrong": page.failure.fields if page.failure else (),
    }


@change("/file")
def choose_file(window: Window, form: Form) -> tuple[Project, str, str]:
    """Choose a file by its path, or reopen a project."""
    typed = form.get("path", "").strip()
    if not typed:
        raise UsageError("Type the path of a file, or choose one from the list.")
    path = window.folders.shown / expanded(typed)
    if not exists(path):
        names = [name for name, is_folder in window.folders.listing() if not is_folder]
        raise UsageError(f"There is no file {typed!r}.{closest(path.name, names)}")
    if is_folder(path):
        window.folders.enter(path)
        return window.history.project, "", "/open"
    if not is_file(path):
        raise UsageError(f"{typed!r} is no file.")
    if path.suffix.lower() in PROJECTS:
        project, connection = read_project(path)
        window.db, window.saved = connection or window.db, path.absolute() if is_ours(path) else None
        window.kept = project if is_ours(path) else None
        return project, f"opening {path.name}", "/columns"
    window.saved = None
    return Project(file=str(path.absolute())), f"opening {path.name}", "/open"


@change("/folder")
def enter_folder(window: Window, form: Form) -> tuple[Project, str, str]:
    """Show another folder of the list."""
    window.folders.enter(window.folders.shown / form.get("path", ""))
    return window.history.project, "", "/open"


@change("/other")
def choose_another(_: Window, __: Form) -> tuple[Project, str, str]:
    """Go back to the list of folders."""
    return Project(), "choosing another table", "/open"


@change("/read")
def change_reading(window: Window, form: Form) -> tuple[Project, str, str]:
    """Change how the file is read, or use the table as it is read."""
    project = window.history.project
    after = "/columns" if form.get("use") else "/open"
    if project.table:
        return project, "", after
    now = window.page("/open").reading() or project.read
    values: dict[str, Any] = {}
    for name, option in options_of(ReadOptions):
        if name in form:
            values[name] = _read_value(name, form[name])
        elif f"has-{name}" in form:
            values[name] = option.default
    if "row" in form:
        row = form["row"].strip()
        if not (row.isascii() and row.isdecimal() and 1 <= int(row) <= 1001):
            raise UsageError("The row with the column names is a number from 1 to 1001.")
        values["skip"] = int(row) - 1
    read = replace(now, **values)
    if read.sheet != now.sheet:
        titles = {sheet["name"]: sheet["title"] for sheet in window.page("/open").sheets() or ()}
        read = replace(read, skip=titles.get(read.sheet, 0))
    roles = {} if read != now else project.roles
    changed = replace(project, read=read, is_read=True, roles=roles, decided=project.decided and bool(roles))
    changed = changed if read == now else replace(changed, release={})
    return (project if read == project.read and project.is_read else changed), "how the file is read", after


def _read_value(name: str, text: str) -> object:
    """Return an option for reading from the text of a form."""
    if name == "null_values":
        return tuple(part.strip() for part in text.split(",")) if text.strip() else ()
    if name == "header":
        return {"yes": True, "no": False}.get(text)
    return text == "on" if name in ("all_text", "labels") else text


# Screen 2: what others may know of a person.


PICTURE, MOST_WIDE = (112, 26), 8
"""Width and height of the picture of a column, and number of bars below which they get no wider."""
_NAMING = (ColumnRole.IDENTIFIER, ColumnRole.ENTITY)


def proposed_roles(described: Shown) -> dict[str, ColumnRole]:
    """Return the roles that a profile proposes; columns that need a person's decision have none."""
    return {column["name"]: ColumnRole(column["role"]) for column in described["columns"] if column["role"]}


def show_columns(page: Page) -> Shown:
    """Return what the second screen shows: each column with its role, and what speaks for it."""
    described = page.result("describe", sets=True)
    if described is None:
        return {}
    roles = page.roles(described)
    undecided = [column["name"] for column in described["columns"] if column["name"] not in roles]
    rows = described["rows"]
    of_people = [
        column["name"]
        for column in described["columns"]
        if not column["empty"] and 1 < column["distinct"] < rows and column["role"] in _NAMING
    ]
    entity = next((name for name, role in roles.items() if role is ColumnRole.ENTITY), "")
    # None = not counted in all rows of a large table
    rare = {column["name"]: column["rare"] for column in described["columns"] if column["rare"] is not None}
    spreads: dict[str, tuple[Sequence[float], int]] = {name: ([], rows) for name in rare if rare[name] == rows}
    spreads |= page.result("spread", columns=[name for name in rare if name not in spreads]) or {}
    return {
        "described": described,
        "pictures": {name: draw_bars(*spread) for name, spread in spreads.items() if rows},
        "roles": roles,
        "undecided": undecided,
        "words": ROLE_WORDS,
        "usual": [role for role in ColumnRole if role not in SINGLE],
        "entity": entity,
        "entities": [*of_people, *([entity] if entity and entity not in of_people else [])],
    }


def draw_bars(common: Sequence[float], rare: int) -> list[tuple[float, float, float, float, str]]:
    """Return the bars of a column: x, y, width and height of each, and `rare` for that of all rare values.

    Args:
        common: rows of a value, of those that are not rare, the most frequent first. rare: rows of all others.
    """
    width, most = PICTURE
    step = width / max(len(common) + bool(rare), MOST_WIDE if common else 1)
    bars: list[tuple[float, float, float, float, str]] = []
    for place, rows in enumerate(common):
        height = round(max(1.0, most * rows / common[0]), 1)
        bars.append((round(place * step, 1), most - height, round(step - 1, 1), height, ""))
    flat = (round(len(common) * step, 1), most - 3, round(step - 1, 1), 3, "rare")
    return [*bars, flat] if rare else bars


@change("/columns")
def change_roles(window: Window, form: Form) -> tuple[Project, str, str]:
    """Give columns their roles."""
    page = window.page("/columns")
    described = page.result("describe", sets=True)
    after = "/verdict" if form.get("use") else "/columns"
    if described is None:
        return page.project, "", "/columns"
    old = page.roles(described)
    roles: dict[str, ColumnRole] = {}
    for number, column in enumerate(described["columns"]):
        name = column["name"]
        chosen = form.get(f"role-{number}", "")
        if form.get("entity") == str(number):
            roles[name] = ColumnRole.ENTITY
        elif chosen in set(ColumnRole) and chosen != ColumnRole.ENTITY:
            roles[name] = ColumnRole(chosen)
        elif old.get(name) is ColumnRole.ENTITY:
            roles[name] = ColumnRole.IDENTIFIER
    weights = [name for name, role in roles.items() if role is ColumnRole.WEIGHTS]
    if len(weights) > 1:
        raise UsageError(f"{listing(weights)} cannot both be the weight. Give one of them another role.")
    differing = [name for name in {**old, **roles} if old.get(name) is not roles.get(name)]
    label = f"role of {differing[0]}" if len(differing) == 1 else f"roles of {len(differing)} columns"
    project = replace(page.project, roles=roles, decided=True)
    if differing:
        project = replace(project, release={}, sampling=("", "") if weights else project.sampling)
    if after == "/verdict" and (problem := why_no_verdict(described, roles)):
        window.notice = problem
        after = "/columns"
    return project, label if differing else "the proposed roles", after


def why_no_verdict(described: Shown, roles: Mapping[str, ColumnRole]) -> str:
    """Return why there is no verdict on a table with these roles; empty = there is one."""
    undecided = [column["name"] for column in described["columns"] if column["name"] not in roles]
    if undecided:
        return f"Decide what others may know first: {listing(undecided)}."
    missing = [name for name in roles if name not in {column["name"] for column in described["columns"]}]
    if missing:
        return f"The table no longer has {listing(missing)}. Check the roles of all columns."
    if ColumnRole.KNOWN not in roles.values():
        return "Choose at least one column that others may know: without one, every table looks safe."
    return ""


# Screen 3: the verdict.

NEARLY = 0.9
"""Share of unique rows from which on nearly every person can be singled out."""


def decided_roles(page: Page) -> Mapping[str, ColumnRole] | None:
    """Return the roles on which there is a verdict; None while they are read, or on the way to the second screen."""
    described = page.result("describe", sets=True)
    if described is None:
        return None
    roles = page.roles(described)
    if not page.project.decided or (problem := why_no_verdict(described, roles)):
        page.redirect = "/columns"
        page.window.notice = page.window.notice or (problem if page.project.decided else "Check these roles first.")
        return None
    return roles


def show_verdict(page: Page) -> Shown:
    """Return what the third screen shows: the verdict, its figures, and the columns that cause it."""
    roles = decided_roles(page)
    if roles is None:
        return {}
    k = page.project.limit("k") or 5
    columns, sampling = roles_by_key(roles), list(page.project.sampling)
    requirements = list(page.project.requirements)
    found = page.result("verdict", roles=columns, requirements=requirements, sampling=sampling, k=k)
    causes = None if found is None else page.result("causes", roles=columns, k=k)
    secret = page.project.with_role(ColumnRole.SECRET)
    shown: dict[str, Any] = {
        "k": k,
        "sizes": group_sizes(k),
        "secret": secret,
        "reveals": page.project.limit("l") is not None,
        "others": [text for text in page.project.requirements if text.partition("=")[0] not in ("k", "l")],
        "sampling": page.project.sampling,
        "has_weights": bool(page.project.with_role(ColumnRole.WEIGHTS)),
    }
    if found is None:
        return shown
    shown |= {"found": found, "causes": causes, **judge(page.project, found, k)}
    if causes and causes["columns"]:
        shown["advice"] = advise(causes["columns"], shown["counted"], shown["people"], k)
    if (page.project.sampling[0] or shown["has_weights"]) and causes is not None:
        shown["population"] = page.result("population", roles=columns, sampling=sampling)
    return shown


def advise(causes: Sequence[Shown], counted: int, people: str, k: int) -> str:
    """Return what follows from the column that does most."""
    first, others = causes[0], len(causes) - 1
    if not first["without"]:
        return f"Without {first['column']}, no one is in a group below {k}."
    if not others or not counted:
        return ""
    left = percent(first["without"] / counted)
    return (
        f"{first['column']} does most. Removing it is not enough: the other {plural(others, 'column')} still "
        f"{'leaves' if others == 1 else 'leave'} {left} of the {people} in groups below {k}."
    )


def judge(project: Project, found: Shown, k: int) -> Shown:
    """Return the verdict on a table in words, and its figures."""
    rows = found["rows"]
    unit = "person" if project.with_role(ColumnRole.ENTITY) else "row"
    counted, unique, below = found["counted"], found["unique"], found["below"]
    known, named = project.with_role(ColumnRole.KNOWN), project.with_role(ColumnRole.IDENTIFIER)
    failing = [check for check in found["checks"] if check["status"] == "fail"]
    is_decided = found["complete"] and all(check["status"] in ("pass", "warn", "fail") for check in found["checks"])
    revealing = [check["sensitive"] for check in failing if check["sensitive"]]
    people = "people" if unit == "person" else "rows"
    tone, headline, same = "bad", "", listing(dict.fromkeys(revealing), last="or")
    if unique and failing:
        several = f"{plural(unique, 'person', 'people')} can be singled out"
        headline = "nearly every person can be singled out" if unique >= NEARLY * counted else several
        lead = f"Someone who knows {listing(known)} of a person finds {unique:,} of the {counted:,} {people} exactly."
        lead += f" In some groups everyone has the same {same}." if same else ""
    elif below and any(check["sensitive"] is None for check in failing):
        headline = f"{below:,} {people} are in groups below {k}"
        lead = f"Someone who knows {listing(known)} of a person is left with fewer than {k} to choose from."
    elif revealing:
        headline = f"groups reveal {listing(dict.fromkeys(revealing))}"
        lead = "In some groups everyone has the same value. Anyone known to be in one has that value."
    elif failing:
        headline = "a requirement is not met"
        lead = f"It is not met for people of whom someone knows {listing(known)}."
    elif not is_decided or found["status"] not in ("pass", "warn"):
        tone, lead = "warn", "The table has too few rows, or what is needed to decide a requirement is missing."
        headline = "Not decided"
    elif named:
        tone, headline = "warn", f"Not safe yet: {listing(named)} must be removed"
        lead = "These columns name people. Without them, the table meets your requirement."
    else:
        tone, headline = "good", f"Safe: everyone is in a group of at least {found['smallest']}"
        others = plural(found["smallest"] - 1, "other")
        lead = f"Someone who knows {listing(known)} of a person cannot tell this person from at least {others}."
    return {
        "tone": tone,
        "headline": f"Not safe: {headline}" if tone == "bad" else headline,
        "verdict": lead,
        "figures": [
            ("Smallest group", plural(found["smallest"], unit, people) if rows else "–", found["smallest"] < k),
            (f"Unique {people}", percent(unique / counted) if counted else "–", unique > 0),
            (f"{people.capitalize()} in groups below {k}", percent(below / counted) if counted else "–", below > 0),
        ],
        "counted": counted,
        "people": people,
    }


def group_sizes(k: int) -> list[tuple[int, str]]:
    """Return the sizes of groups to choose from, with the published rules that have them."""
    titles: dict[int, list[str]] = {}
    for preset in presets().values():
        required = [parse_requirement(text).parameters.get("k", 1) for text in preset.audit]
        if (size := max([preset.size, *required])) > 1:
            titles.setdefault(size, []).append(preset.title)
    return sorted({**{k: ""}, **{size: names[0] for size, names in titles.items()}}.items())


@change("/requirement")
def change_requirement(window: Window, form: Form) -> tuple[Project, str, str]:
    """Change what the release must meet, and whether the table is a sample."""
    project = window.history.project
    after = "/safe" if form.get("use") else "/verdict"
    size = form.get("size", "").strip()
    if not (size.isascii() and size.isdecimal() and 2 <= int(size) <= 10**6):
        raise UsageError("The size of a group is a whole number from 2 on.")
    changed = project.with_limit("k", int(size))
    changed = changed.with_limit("l", (project.limit("l") or 2) if form.get("reveals") else None)
    key, text = form.get("sampled", ""), form.get("sampling", "").strip()
    is_applied = bool(form.get("use") or form.get("apply"))
    if key in ("sampling_fraction", "population_size"):
        if not text and is_applied:
            raise UsageError("Type the fraction of the sample, such as 1%, or the number of people in the population.")
        if text:
            request_from(Sampling, {key: text})
            changed = replace(changed, sampling=(key, text))
    elif "sampled" in form:
        changed = replace(changed, sampling=("", ""))
    for requirement in changed.requirements:
        parse_requirement(requirement)
    if changed.limit("k") != project.limit("k"):
        return changed, f"group size {size}", after
    return changed, "your requirement", after


# Of every screen: undo and redo, the file of the project, and the running computation.


@change("/undo")
def undo(window: Window, form: Form) -> tuple[Project, str, str]:
    """Show the version before."""
    window.history.move(-1)
    return window.history.project, "", form.get("page", "/open")


@change("/redo")
def redo(window: Window, form: Form) -> tuple[Project, str, str]:
    """Show the version after."""
    window.history.move(1)
    return window.history.project, "", form.get("page", "/open")


@change("/save")
def save(window: Window, form: Form) -> tuple[Project, str, str]:
    """Write the project as a policy, to a new file."""
    project = window.history.project
    write_project(
        window, project, window.folders.shown / expanded(form.get("path", "").strip() or window.project_file.name)
    )
    return project, "", form.get("page", "/open")


def write_project(window: Window, project: Project, path: Path) -> None:
    """Write a project as a policy, to a new file or its own.

    Raises:
        UsageError: there is another file, or the project cannot be a policy yet.
    """
    if path.suffix.lower() not in PROJECTS:
        raise UsageError("The name of a project ends in .yml.")
    if "\0" in str(path):
        raise no_name(str(path))
    is_own = path.absolute() == window.own_file
    if exists(path) and not is_own:
        raise UsageError(f"{path.name!r} exists already, and no file is replaced. Choose another name.")
    if not project.decided or not project.with_role(ColumnRole.KNOWN):
        raise UsageError("Decide about the columns first: a project has at least one column that others may know.")
    with contextlib.nullcontext() if is_own else only_new_files():
        write_text(path, project.text(path.absolute().parent, window.connection))
    window.saved, window.kept = path.absolute(), project
    window.has_written(path)
