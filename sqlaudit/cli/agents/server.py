"""The server of tools over the Model Context Protocol, by the official SDK. Each call is a process of its own.

One call runs at a time, a few wait, and further ones are refused, so that an agent takes no more of a machine or
database than one person would.
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
from sqlaudit.cli.agents.tools import LONGEST, QUERY, QUERY_HELP, QUERY_TITLE, TOOLS, OfferedTables
from sqlaudit.reports.document import visible

WAITING = 4
"""Number of calls that may wait for the running one."""
LEAVING = 10.0
"""Seconds in which a call has to end after it was cancelled, and after its time limit."""
_PREFIX = "sqlaudit: "


def serve(offered: OfferedTables) -> None:
    """Answer on stdin and stdout until stdin ends.

    Raises:
        MissingDriver: the SDK is not installed.
    """
    desk = Desk(offered)
    server = make_server(desk)
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            try:
                await server.run(reading, writing, server.create_initialization_options())
            finally:
                await desk.close()

    asyncio.run(run())


def make_server(desk: Desk) -> Any:
    """Return the SDK's server with the tools of a desk.

    Raises:
        MissingDriver: the SDK is not installed.
    """
    try:
        import mcp_types as types
        from mcp.server.lowlevel import Server
    except ImportError:
        raise MissingDriver("Agents need the package mcp, 2.0 or later: pip install 'sqlaudit[mcp]'.") from None

    async def tools(_: Any, __: object) -> object:
        """Return the tools with their schemas."""
        hints = types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        )
        tool_types = [
            types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.help,
                input_schema=tool.schema(desk.offered.tables),
                annotations=hints,
            )
            for tool in (TOOLS.values() if desk.offered.tables else ())
        ]
        if desk.offered.cube:
            query, help = desk.offered.query_schema(), f"{QUERY_HELP} {desk.offered.origin}"
            tool_types.append(
                types.Tool(name=QUERY, title=QUERY_TITLE, description=help, input_schema=query, annotations=hints)
            )
        return types.ListToolsResult(tools=tool_types)

    async def call(_: object, request: Any) -> object:
        text, failed = await desk.answer(request.name, request.arguments or {})
        content = [types.TextContent(type="text", text=text)]
        return types.CallToolResult(
            content=content, structured_content=None if failed else json.loads(text), is_error=failed
        )

    instructions = (
        "sqlaudit measures how easily the people in a table can be re-identified, inside the database. It never writes "
        "and returns counts, never values. It takes names of columns, not conditions or queries. "
        f"Tables: {', '.join(desk.offered.tables)}. Start with profile."
    )
    if desk.offered.cube:
        of_tables = f"{instructions} " if desk.offered.tables else ""
        instructions = f"{of_tables}The tool query takes any SELECT on the table cube, whose owner has published it."
        instructions += f" {desk.offered.origin}"
    return Server("sqlaudit", version=__version__, instructions=instructions, on_list_tools=tools, on_call_tool=call)


class Desk:
    """A queue that runs calls one after the other.

    Args:
        offered: the tables and limits.
    """

    def __init__(self, offered: OfferedTables) -> None:
        self.offered = offered
        self._slot = asyncio.Semaphore(1)
        self._turns: set[asyncio.Future[tuple[str, bool]]] = set()

    async def answer(self, name: str, arguments: Mapping[str, object]) -> tuple[str, bool]:
        """Run a tool. Return its JSON, or one sentence, and True if the call failed."""
        try:
            job, tables = self._job(name, arguments)
        except SqlauditError as error:
            return visible(str(error)), True
        if len(self._turns) > WAITING:
            return f"{WAITING} calls are waiting already. Try again when one was answered.", True
        turn = asyncio.ensure_future(self._run(job, tables))
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)
        try:
            return await asyncio.shield(turn)
        except asyncio.CancelledError:  # the call is ending; the next one waits until it has
            turn.cancel()
            raise

    @property
    def tools(self) -> list[str]:
        """The names of the tools."""
        return [*(TOOLS if self.offered.tables else ()), *([QUERY] if self.offered.cube else [])]

    async def close(self) -> None:
        """Wait until every call has ended, cancelled ones included."""
        for turn in tuple(self._turns):
            turn.cancel()
        await asyncio.gather(*self._turns, return_exceptions=True)

    def _job(self, name: str, call_arguments: Mapping[str, object]) -> tuple[dict[str, Any], Mapping[str, str]]:
        """Return the job of a call for its process, and its tables with their files or relations."""
        if name == QUERY and self.offered.cube:
            sql, limits = self.offered.query(call_arguments), asdict(self.offered.limits)
            return {"tool": QUERY, "cube": self.offered.cube, "sql": sql, "limits": limits}, {"cube": self.offered.cube}
        if name not in TOOLS or not self.offered.tables:
            raise UsageError(f"There is no tool {name[:LONGEST]!r}; there are {', '.join(self.tools)}.")
        tool = TOOLS[name]
        arguments = tool.checked(call_arguments)
        table_names = [arguments.pop("table"), *([arguments.pop("static_from")] if "static_from" in arguments else [])]
        targets = [self.offered.target(label) for label in table_names]
        job = {
            "tool": name,
            "db": self.offered.db,
            "tables": [[target.label, target.relation, asdict(target.read)] for target in targets],
            "arguments": arguments,
            "limits": asdict(self.offered.limits),
        }
        return job, {target.label: target.relation for target in targets}

    async def _run(self, job: Mapping[str, object], tables: Mapping[str, str]) -> tuple[str, bool]:
        """Run a job in a process. Return its output or one sentence, and True if it failed."""
        # -P: no module is imported from the current folder, where an agent may have written one
        command = (sys.executable, "-P", "-m", "sqlaudit.cli.agents.worker")
        timeout = self.offered.limits.timeout
        async with self._slot:
            process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE)
            try:
                request = json.dumps(job).encode()
                seconds = None if timeout is None else timeout + LEAVING
                out, errors = await asyncio.wait_for(process.communicate(request), seconds)
            except TimeoutError:
                return f"The time limit of {timeout:g} seconds was reached.", True
            finally:
                await _stop_process(process)
        if process.returncode == 0:
            return out.decode(), False
        return self._sentence(errors.decode(errors="replace"), tables), True

    def _sentence(self, errors: str, tables: Mapping[str, str]) -> str:
        """Return the last error of a call, with the names of tables instead of their paths."""
        lines = [line.removeprefix(_PREFIX) for line in errors.splitlines() if line.startswith(_PREFIX)]
        if not lines:
            return "The call ended without an answer. It may have exceeded its memory limit."
        db = self.offered.db
        names = {relation: name for name, relation in tables.items()} if db is None else {db: "the database"}
        sentence = lines[-1]
        for text, name in names.items():
            sentence = sentence.replace(text, name)
        return without_connections(sentence)


async def _stop_process(process: Process) -> None:
    """Wait until the process of a call has ended. It is terminated, which stops its statement, and finally killed."""
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
