"""A window behind its real door, without a socket."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from html import unescape
from pathlib import Path

import pytest

with warnings.catch_warnings():  # it asks for a newer httpx
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

from sqlaudit.app import door as door_module
from sqlaudit.app.door import Door
from sqlaudit.app.folders import Folders
from sqlaudit.app.tasks import OpenTable
from sqlaudit.app.window import Window, make_app
from sqlaudit.app.worker import stamp_of
from sqlaudit.base.spec import ReadOptions
from sqlaudit.gates.result import Connection

PORT = 4711
CSV = "id,age,zip,job,income\n" + "".join(
    f"p{row},{20 + row % 3},{1000 + row % 2},baker{row % 5},{row % 4}\n" for row in range(120)
)


class Person:
    """A person at the window: goes to pages, fills in their forms, and follows what is computed."""

    def __init__(self, client: TestClient, door: Door, window: Window) -> None:
        self.client, self.door, self.window = client, door, window
        self.origin = f"http://{door.hosts[0]}"

    def enter(self) -> Person:
        """Give in the token of the entry file."""
        self.client.post("/enter", data={"token": self.door.token}, headers={"origin": self.origin})
        return self

    def get(self, path: str) -> str:
        """Return the page of an address when it has been computed."""
        for _ in range(400):
            text = self.client.get(path).text
            if "data-working" not in text:
                return text
        raise AssertionError("it does not end")

    def post(self, path: str, fields: dict[str, str], page: str = "/open", version: str | None = None) -> str:
        """Send a form of a page as it is now; return the page that follows."""
        number = str(self.window.history.number) if version is None else version
        form = {"version": number, "page": page, **fields}
        answer = self.client.post(path, data=form, headers={"origin": self.origin}, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        return self.get(answer.headers["location"])

    def decide(self, **roles: str) -> str:
        """Give each column a role by its name, and ask for the verdict."""
        page = self.get("/columns")
        names = [unescape(name) for name in re.findall(r'<legend class="vh">Role of (.*?)</legend>', page)]
        return self.post(
            "/columns", {**{f"role-{names.index(name)}": role for name, role in roles.items()}, "use": "1"}, "/columns"
        )


@contextmanager
def opened(file: Path) -> Iterator[OpenTable]:
    """Yield a file as the process of the window opens it."""
    place = {"db": None, "relation": str(file), "read": asdict(ReadOptions()), "stamp": stamp_of(str(file))}
    table = OpenTable(place, lambda step, share: None)
    try:
        yield table
    finally:
        table.close()


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text(CSV, encoding="utf-8")
    return file


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    """A person who has just entered a window that shows the files of a folder."""
    with at_the_window(tmp_path, monkeypatch) as waiting:
        yield waiting.enter()


@contextmanager
def at_the_window(
    folder: Path, monkeypatch: pytest.MonkeyPatch, db: Connection | None = None, name: str = ""
) -> Iterator[Person]:
    """Yield a person before the door of a window that was started with a table."""
    monkeypatch.setattr(door_module, "_is_ours", lambda client, port: True)  # there is no socket here
    monkeypatch.chdir(folder)
    window = Window(Folders(folder), db)
    window.open(name)
    door = Door(make_app(window), PORT)
    with TestClient(door, base_url=f"http://{door.hosts[0]}", raise_server_exceptions=False) as client:
        yield Person(client, door, window)
        assert client.portal is not None
        client.portal.call(window.jobs.close)
