"""The server: tools over the Model Context Protocol, by the official SDK; each call is a process of its own.

One call runs at a time, a few more wait, and further ones are told to come back, so that an agent takes no more of a
machine or database than one person would.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlaudit.base.connection_texts import without_connections
from sqlaudit.base.errors import MissingDriver, SqlauditError, UsageError
from sqlaudit.base.version import __version__
from sqlaudit.cli.agents.tools import LONGEST, TOOLS, Offered
from sqlaudit.reports.document import visible

WAITING = 4
"""Calls that may wait for the one that runs."""
LEAVING = 10.0
"""Seconds that a call has to end in good order when it was cancelled, and beyond its time limit."""
_SAID = "sqlaudit: "


def serve(offered: Offered) -> None:
    """Answer on stdin and stdout until stdin ends.

    Raises:
        MissingDriver: the SDK is not installed.
    """
    desk = Desk(offered)
    server = made_server(desk)
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            try:
                await server.run(reading, writing, server.create_initialization_options())
            finally:
                await desk.close()

    asyncio.run(run())


def made_server(desk: Desk) -> Any:
    """The SDK's server with the tools of a desk.

    Raises:
        MissingDriver: the SDK is not installed.
    """
    try:
        import mcp_types as types
        from mcp.server.lowlevel import Server
    except ImportError:
        raise MissingDriver("Agents need the package mcp, 2.0 or later: pip install 'sqlaudit[mcp]'.") from None

    async def tools(_: Any, __: Any) -> Any:
        hints = types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        )
        made = [
            types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.help,
                input_schema=tool.schema(desk.offered.tables),
                annotations=hints,
            )
            for tool in TOOLS.values()
        ]
        return types.ListToolsResult(tools=made)

    async def call(_: Any, asked: Any) -> Any:
        text, failed = await desk.answer(asked.name, asked.arguments or {})
        said = [types.TextContent(type="text", text=text)]
        return types.CallToolResult(
            content=said, structured_content=None if failed else json.loads(text), is_error=failed
        )

    instructions = (
        "sqlaudit measures how easily the people in a table can be re-identified, inside the database. It never writes "
        "and returns counts, never values. It takes names of columns, not conditions or queries. "
        f"Tables: {', '.join(desk.offered.tables)}. Start with profile."
    )
    return Server("sqlaudit", version=__version__, instructions=instructions, on_list_tools=tools, on_call_tool=call)


class Desk:
    """Where calls are taken, one after the other.

    Args:
        offered: the tables and limits.
    """

    def __init__(self, offered: Offered) -> None:
        self.offered = offered
        self._one = asyncio.Semaphore(1)
        self._turns: set[asyncio.Future[tuple[str, bool]]] = set()

    async def answer(self, name: str, given: Mapping[str, Any]) -> tuple[str, bool]:
        """What a tool says: its JSON, or one sentence and that the call failed."""
        try:
            job, tables = self._job(name, given)
        except SqlauditError as error:
            return visible(str(error)), True
        if len(self._turns) > WAITING:
            return f"{WAITING} calls are waiting already. Try again when one was answered.", True
        turn = asyncio.ensure_future(self._run(job, tables))
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)
        try:
            return await asyncio.shield(turn)
        except asyncio.CancelledError:  # the call is asked to end; the next one has to wait until it has
            turn.cancel()
            raise

    async def close(self) -> None:
        """Wait until every call has ended, those that were cancelled too."""
        for turn in tuple(self._turns):
            turn.cancel()
        await asyncio.gather(*self._turns, return_exceptions=True)

    def _job(self, name: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], Mapping[str, str]]:
        """The job of a call, and its tables with what lies behind them."""
        if name not in TOOLS:
            raise UsageError(f"There is no tool {name[:LONGEST]!r}; there are {', '.join(TOOLS)}.")
        tool = TOOLS[name]
        arguments = tool.checked(given)
        called = [arguments.pop("table"), *([arguments.pop("static_from")] if "static_from" in arguments else [])]
        tables = {label: self.offered.target(label).relation for label in called}
        job = {
            "tool": name,
            "db": self.offered.db,
            "tables": [[label, tables[label]] for label in called],
            "arguments": arguments,
            "read": asdict(self.offered.read),
            "limits": asdict(self.offered.limits),
        }
        return job, tables

    async def _run(self, job: Mapping[str, Any], tables: Mapping[str, str]) -> tuple[str, bool]:
        # -P: a module that an agent wrote into the current folder is not ours
        command = (sys.executable, "-P", "-m", "sqlaudit.cli.agents.worker")
        timeout = self.offered.limits.timeout
        async with self._one:
            process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE)
            try:
                asked = json.dumps(job).encode()
                most = None if timeout is None else timeout + LEAVING
                out, said = await asyncio.wait_for(process.communicate(asked), most)
            except TimeoutError:
                return f"The time limit of {timeout:g} seconds was reached.", True
            finally:
                await _ended(process)
        if process.returncode == 0:
            return out.decode(), False
        return self._sentence(said.decode(errors="replace"), tables), True

    def _sentence(self, said: str, tables: Mapping[str, str]) -> str:
        """What a call said before it ended, with the names of tables instead of their paths."""
        lines = [line.removeprefix(_SAID) for line in said.splitlines() if line.startswith(_SAID)]
        if not lines:
            return "The call ended without an answer. It may have exceeded its memory limit."
        db = self.offered.db
        names = {relation: name for name, relation in tables.items()} if db is None else {db: "the database"}
        sentence = lines[-1]
        for text, name in names.items():
            sentence = sentence.replace(text, name)
        return without_connections(sentence)


async def _ended(process: Process) -> None:
    """Wait until a call is over: it is asked to end, which stops what it runs in the database, and then made to."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), LEAVING)
    except (TimeoutError, asyncio.CancelledError):
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
