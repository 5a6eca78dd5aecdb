"""Sessions of the official SDK with the server, over stdio and in memory.

pip install -e . -r tests/agents/requirements.txt pytest && python -m pytest -o addopts= -q tests/agents
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from sqlaudit.base.spec import Limits
from sqlaudit.cli.agents.server import Desk, make_server
from sqlaudit.cli.agents.tools import OfferedTables, files_of
from tests.cli.runner import patients

pytestmark = pytest.mark.filterwarnings("default")  # warnings of the SDK are not ours


def over_stdio(*arguments: str) -> Any:
    return Client(stdio_client(StdioServerParameters(command=sys.executable, args=["-m", "sqlaudit", *arguments])))


def test_a_session_over_stdio(tmp_path: Path) -> None:
    patients(tmp_path)

    async def session() -> tuple[Any, list[Any]]:
        async with over_stdio("mcp", str(tmp_path), "--timeout", "50s") as client:
            listed = (await client.list_tools()).tools
            table = {"table": "patients.csv"}
            calls = [
                ("audit", {**table, "qi": ["age", "sex"], "sensitive": ["disease"], "require": ["k=2"]}),
                ("audit", {**table, "qi": ["disease = 'ulcer'"]}),
                ("audit", {**table, "qi": ["age"], "where": "disease = 'ulcer'"}),
                ("profile", {"table": "../../etc/passwd"}),
                ("persons", {**table, "entity": "age", "qi": ["sex"], "k": 2}),
            ]
            return listed, [await client.call_tool(name, given) for name, given in calls]

    listed, answers = asyncio.run(session())
    assert [tool.name for tool in listed] == ["profile", "audit", "columns", "disclosure", "persons"]
    assert all(tool.annotations.read_only_hint and not tool.annotations.open_world_hint for tool in listed)
    assert [one.is_error for one in answers] == [False, True, True, True, False]
    audit = answers[0].structured_content
    assert audit == json.loads(answers[0].content[0].text)
    assert (audit["checks"][0]["status"], audit["checks"][0]["level"], audit["target"]["rows"]) == ("fail", 1, 12)
    assert not any(value in answers[0].content[0].text for value in ("flu", "ulcer", "cold"))
    said = [one.content[0].text for one in answers[1:4]]
    assert said[0].startswith("qi: patients.csv has no column")
    assert said[1].startswith("audit takes no 'where'.")
    assert said[2].startswith("There is no table '../../etc/passwd' here")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_both_generations_of_the_protocol(mode: str, tmp_path: Path) -> None:
    desk = Desk(OfferedTables(files_of([str(tmp_path / patients(tmp_path).name)]), limits=Limits(timeout=50.0)))

    async def session() -> Any:
        async with Client(make_server(desk), mode=mode) as client:
            (table,) = (await client.list_tools()).tools[0].input_schema["properties"]["table"]["enum"]
            return await client.call_tool("columns", {"table": table, "k": 2})

    answer = asyncio.run(session())
    assert answer.structured_content["sets"] == [] or answer.structured_content["complete"]


def test_a_cancelled_call_leaves_no_process(tmp_path: Path) -> None:
    file = patients(tmp_path)
    desk = Desk(OfferedTables(files_of([str(file)]), limits=Limits(timeout=50.0)))

    async def session() -> int:
        async with Client(make_server(desk)) as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.call_tool("profile", {"table": str(file)}), 0.2)
            answer = await client.call_tool("profile", {"table": str(file)})
            assert not answer.is_error
        await desk.close()
        return len(desk._turns)

    assert asyncio.run(session()) == 0


def test_a_cube_is_queried(tmp_path: Path) -> None:
    cube = tmp_path / "cube.parquet"
    rows = "('a', 7::BIGINT, 7::BIGINT), ('b', 5::BIGINT, 6::BIGINT)"
    duckdb.sql(f"COPY (SELECT * FROM (VALUES {rows}) AS t(region, people, rows)) TO '{cube}'")

    async def session() -> tuple[Any, list[Any]]:
        async with over_stdio("mcp", "--cube", str(cube), "--timeout", "50s") as client:
            asked = ("SELECT sum(people) AS people FROM cube", "SELECT * FROM read_text('/etc/passwd')")
            answers = [await client.call_tool("query", {"sql": sql}) for sql in asked]
            return (await client.list_tools()).tools, answers

    (tool,), answers = asyncio.run(session())
    assert (tool.name, list(tool.input_schema["properties"])) == ("query", ["sql"])
    assert "region VARCHAR, people BIGINT" in tool.input_schema["properties"]["sql"]["description"]
    assert answers[0].structured_content == {"columns": ["people"], "rows": [[12]], "more": False}
    assert answers[1].is_error
    assert answers[1].content[0].text.startswith("A query reads the table cube and nothing else")
