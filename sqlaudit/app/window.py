"""The state of the window behind the door, its pages, and the app that answers requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count as count_from
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sqlaudit.app.door import read_form
from sqlaudit.app.folders import Folders
from sqlaudit.app.jobs import JobQueue, JobResult
from sqlaudit.app.levels import show_levels
from sqlaudit.app.project import ColumnRole, Project, Versions
from sqlaudit.app.publishing import show_release
from sqlaudit.app.screens import CHANGES, AppScreen, proposed_roles, show_columns, show_open, show_verdict
from sqlaudit.app.tasks import in_plain_words, in_the_window
from sqlaudit.app.worker import stamp_of
from sqlaudit.base.connection_texts import without_connections
from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.files import exists
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.spec import ReadOptions
from sqlaudit.engines.duckdb.paths import format_of_name
from sqlaudit.gates.connections import database_of
from sqlaudit.gates.result import Connection
from sqlaudit.reports.document import count, listing, percent, plural, visible

AT_ONCE = 0.5
"""Seconds for which a page waits for results, so that quick ones are shown without another request."""
ACTIONS = {
    "sheet": ("Choose the sheet", "sheet"),
    "skip": ("Choose the row with the column names", "row"),
    "header": ("Choose the row with the column names", "row"),
    "null_values": ("Name the texts that mean missing", "null_values"),
    "all_text": ("Read every column as text", "all_text"),
    "encoding": ("Choose the encoding", "encoding"),
    "delimiter": ("Choose the separator", "delimiter"),
    "decimal": ("Choose the decimal sign", "decimal"),
    "date_order": ("Choose the order of dates", "date_order"),
    "labels": ("Use value labels", "labels"),
}
"""The action after an error, by the option that its sentence names: its words, and the field of the first screen."""
DOING = {
    "": "Reading the table",
    "sheets": "Looking for sheets",
    "describe": "Reading the table",
    "spread": "Drawing how values are spread",
    "verdict": "Looking for people who can be singled out",
    "causes": "Looking for the columns that cause it",
    "population": "Estimating what the sample shows of its population",
    "explore": "Comparing all combinations of levels",
    "combination": "Checking these levels",
    "labels": "Reading the labels",
    "release": "Auditing the release",
    "write": "Writing the release, reading it back and auditing it",
}
"""What a page says while a task runs; the steps of the engine have its words."""
_HERE = Path(__file__).parent


SCREENS: Sequence[AppScreen] = (
    AppScreen("/open", "Open", show_open, "Use this table", lambda project: True),
    AppScreen("/columns", "Columns", show_columns, "Show the verdict", lambda project: project.has_table),
    AppScreen("/verdict", "Verdict", show_verdict, "Make it safe", lambda project: project.decided),
    AppScreen("/safe", "Make it safe", show_levels, "Use these levels", lambda project: project.decided),
    AppScreen(
        "/release", "Release", show_release, "Write the release", lambda project: bool(project.release.get("levels"))
    ),
)
"""The screens, in the order of their steps."""


@dataclass
class Page:
    """A page that is being made: what it asks for, and what it waits for.

    Args:
        window: the window. screen: the screen of the page.
    """

    window: Window
    screen: AppScreen
    is_pending: bool = False
    failure: JobResult | None = None
    redirect: str = ""

    @property
    def project(self) -> Project:
        """The version of the project that is shown."""
        return self.window.history.project

    def result(self, task: str, **arguments: object) -> Mapping[str, Any] | None:
        """Return the result of a task on the table; None while it is computed, or if it failed."""
        if self.failure is not None or (read := self.reading()) is None:
            return None
        return self._ask(task, read, arguments)

    def _ask(self, task: str, read: ReadOptions, arguments: Mapping[str, object]) -> Mapping[str, Any] | None:
        outcome = self.window.jobs.result({"task": task, "place": self.window.place(read), "arguments": arguments})
        if outcome is None:
            self.is_pending = True
        elif outcome.error:
            self.failure = outcome
        else:
            return outcome.value
        return None

    def sheets(self) -> Sequence[Mapping[str, Any]] | None:
        """Return the sheets of an Excel file, none for another file; None while they are read."""
        if format_of_name(Path(self.project.file).name) != "excel":
            return ()
        found = None if self.failure else self._ask("sheets", ReadOptions(), {})
        return None if found is None else found["sheets"]

    def reading(self) -> ReadOptions | None:
        """Return how the file is read: as stated, or else with the proposed sheet and row of names; None = not yet."""
        if self.project.is_read or not self.project.file:
            return self.project.read
        sheets = self.sheets()
        if not sheets:
            return self.project.read if sheets is not None else None
        largest = max(sheets, key=lambda sheet: sheet["rows"] * sheet["columns"])
        return ReadOptions(sheet=largest["name"], skip=largest["title"])

    def roles(self, described: Mapping[str, Any]) -> Mapping[str, ColumnRole]:
        """Return the roles of the columns: those that were decided, or else the proposals."""
        return self.project.roles if self.project.decided else proposed_roles(described)


@dataclass
class Window:
    """All that the server remembers, until it ends.

    Args:
        folders: the list of files. db: the database that the window was started with, or that of a reopened project.
        history: the versions of the project. jobs: what computes. written: names of the files written so far.
        notice: a sentence that the next page shows once. saved: the file of the project, once written or opened.
        kept: the version that is in it. writing: the job that writes a release, and the version that it writes.
        asked: the column and level whose labels a person has asked for, and the step in which.
        papers: what is written beside the release: `project`, `report`.
        is_ended: True when the window was closed by its button.
        turn: counts how often all was read again; no result of an earlier turn is shown.
    """

    folders: Folders
    db: Connection | None = None
    history: Versions = field(default_factory=lambda: Versions([(Project(), "")]))
    jobs: JobQueue = field(default_factory=JobQueue)
    written: list[str] = field(default_factory=list)
    notice: str = ""
    saved: Path | None = None
    kept: Project | None = None
    writing: tuple[Mapping[str, Any], Project] | None = None
    asked: tuple[str, str, int] | None = None
    papers: frozenset[str] = frozenset({"project"})
    is_ended: bool = False
    turn: int = 0

    def open(self, name: str) -> None:
        """Choose the table that the window was started with: a file, or one of its database; empty = none.

        Raises:
            UsageError: there is no such file, or it is a project that cannot be opened.
        """
        if name and self.db is None:
            project, _, _ = CHANGES["/file"](self, {"path": name})
            self.history = Versions([(project, "")])
        elif name:
            self.history = Versions([(Project(table=name, connection=self.db), "")])

    def page(self, path: str) -> Page:
        """Return a page of the screen with an address."""
        return Page(self, next(screen for screen in SCREENS if screen.path == path))

    def place(self, read: ReadOptions) -> dict[str, Any]:
        """Return where the table is, for the process that opens it, with the state of its file."""
        project = self.history.project
        db = None if self.connection is None else asdict(database_of(self.connection))
        stamp = stamp_of(project.file) if project.file else None
        relation = project.file or project.table
        return {"db": db, "relation": relation, "read": asdict(read), "stamp": stamp, "turn": self.turn}

    @property
    def connection(self) -> Connection | None:
        """The database of the project; None for a file."""
        project = self.history.project
        return None if project.file else project.connection or self.db

    @property
    def own_file(self) -> Path | None:
        """The file of the project, which may be written again; never that of another table."""
        kept, project = self.kept, self.history.project
        is_same = kept is not None and (kept.file, kept.table) == (project.file, project.table)
        return self.saved if is_same else None

    @property
    def project_file(self) -> Path:
        """The name that the file of the project gets, unless another is chosen."""
        if self.own_file is not None:
            return self.own_file
        return self.new_file(".sqlaudit.yml")

    def new_file(self, ending: str) -> Path:
        """Return a file beside that of the table that does not exist yet."""
        project = self.history.project
        folder = Path(project.file).parent if project.file else self.folders.shown
        names = (f"{project.stem}{f'_{number}' if number > 1 else ''}{ending}" for number in count_from(1))
        return next(path for name in names if not exists(path := folder / name))

    def has_written(self, path: Path) -> None:
        """Note that a file was written, for the footer."""
        self.written = [*(name for name in self.written if name != str(path)), str(path)]

    @property
    def footer(self) -> str:
        """What has been written so far, as a sentence."""
        if self.writing is not None and (outcome := self.jobs.ended(self.writing[0])[1]) and not outcome.error:
            for name in filter(None, (self.writing[0]["arguments"][key] for key in ("file", "report"))):
                self.has_written(Path(name))
        if not self.written:
            return "Nothing has been written."
        return f"Written: {listing(visible(Path(path).name) for path in self.written)}."

    @property
    def title(self) -> str:
        """The name of the table, for the head of the page; never for its title, which histories keep."""
        project = self.history.project
        sheet = f", sheet {project.read.sheet}" if project.read.sheet else ""
        return f"{Path(project.file).name or project.table}{sheet}" if project.has_table else ""


class Endpoints:
    """Answers to the requests that the door lets in.

    Args:
        window: the window that they show and change.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {"count": count, "percent": percent, "visible": visible, "plain": in_plain_words}
        self._templates.globals |= {"plural": plural, "listing": listing, "doing": DOING}

    def _render(self, name: str, page: Page | None = None, **values: object) -> HTMLResponse:
        window = self._window
        fields = {"version": window.history.number, "page": page.screen.path if page else "/"}
        inputs = (Markup('<input type="hidden" name="{}" value="{}">').format(*pair) for pair in fields.items())
        hidden = Markup().join(inputs)
        values |= {"window": window, "history": window.history, "hidden": lambda: hidden}
        if page is not None:
            values |= {"page": page, "screen": page.screen, "project": page.project}
        return HTMLResponse(self._templates.get_template(name).render(values))

    async def home(self, _: Request) -> Response:
        """Go to the first screen that has something to do."""
        return RedirectResponse("/columns" if self._window.history.project.table else "/open", 303)

    async def show(self, request: Request) -> Response:
        """Show a screen."""
        window = self._window
        if request.url.path != "/safe":
            window.asked = None
        page, values = await self._page(request.url.path)
        if page.redirect:
            return RedirectResponse(page.redirect, 303)
        notice = window.notice
        if not page.is_pending:  # else it would be gone with the next look at what is computed
            window.notice = ""
        named = page.failure.fields if page.failure else ()
        return self._render(
            f"{page.screen.path[1:]}.html",
            page,
            number=SCREENS.index(page.screen) + 1,
            steps=[(screen, screen.ready(page.project)) for screen in SCREENS],
            notice=notice,
            action=next((ACTIONS[name] for name in named if name in ACTIONS), None),
            **values,
        )

    async def _page(self, path: str) -> tuple[Page, Mapping[str, Any]]:
        """Make a page, again if what it waits for comes soon."""
        page = self._window.page(path)
        if not page.screen.ready(page.project):
            page.redirect = "/columns" if page.project.has_table else "/open"
            return page, {}
        values = page.screen.show(page)
        if page.is_pending:
            await self._window.jobs.settle(AT_ONCE)
            page = self._window.page(path)
            values = page.screen.show(page)
        return page, values

    async def change(self, request: Request) -> Response:
        """Change the project by a form, and go to the next page."""
        fields = await read_form(request)
        if fields is None:
            return PlainTextResponse("This form is too long.", 413)
        window, form = self._window, dict(fields)
        form["page"] = after = _screen_of(form)
        if form.get("version") != str(window.history.number):
            window.notice = "The project has changed since that page was shown, so nothing was done. This is its state."
            return RedirectResponse(after, 303)
        try:
            with speaking(in_the_window):
                project, label, after = CHANGES[request.url.path](window, form)
        except SqlauditError as error:
            window.notice = in_plain_words(without_connections(str(error)))
            return RedirectResponse(after, 303)
        if label:
            window.history.add(project, label)
        return RedirectResponse(after, 303)

    async def stop(self, request: Request) -> Response:
        """Stop what is computed."""
        form = dict(await read_form(request) or ())
        await self._window.jobs.stop()
        return RedirectResponse(_screen_of(form), 303)

    async def again(self, request: Request) -> Response:
        """Read the table again, and compute all of it."""
        form = dict(await read_form(request) or ())
        self._window.jobs.forget()
        self._window.turn += 1
        return RedirectResponse(_screen_of(form), 303)

    async def alive(self, _: Request) -> Response:
        """Answer that the window has not ended."""
        return Response(status_code=204)

    async def end(self, _: Request) -> Response:
        """End the window."""
        self._window.is_ended = True
        return self._render("ended.html")

    async def help_page(self, _: Request) -> Response:
        """Show the page of help."""
        return self._render("help.html")


def _screen_of(form: Mapping[str, str]) -> str:
    """Return the address of the screen that a form is on; of another form the first page."""
    page = form.get("page", "")
    return page if any(screen.path == page for screen in SCREENS) else "/"


async def _failed(_: Request, error: Exception) -> Response:
    """Answer with the kind of an internal error; its message may hold a value."""
    return PlainTextResponse(
        f"Internal error ({type(error).__name__}). This is a bug in sqlaudit, please report it.", 500
    )


def make_app(window: Window) -> Starlette:
    """Return the app that shows and changes a window; the door stands before it."""
    answers = Endpoints(window)
    routes = [
        Route("/", answers.home),
        *(Route(screen.path, answers.show) for screen in SCREENS),
        *(Route(path, answers.change, methods=["POST"]) for path in CHANGES),
        Route("/stop", answers.stop, methods=["POST"]),
        Route("/again", answers.again, methods=["POST"]),
        Route("/end", answers.end, methods=["POST"]),
        Route("/alive", answers.alive),
        Route("/help", answers.help_page),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
    ]
    return Starlette(routes=routes, exception_handlers={Exception: _failed})
