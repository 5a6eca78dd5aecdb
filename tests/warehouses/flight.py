"""A Flight SQL server for the tests: the few messages that a driver sends for a SELECT, answered by DuckDB.

Written by the protocol's definition (FlightSql.proto), because no server of it can be had from the package index alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from pyarrow import flight

_TYPE = "type.googleapis.com/arrow.flight.protocol.sql."


def fields(message: bytes) -> dict[int, bytes]:
    """The fields of a message of protobuf that are texts or messages."""
    found, at = {}, 0
    while at < len(message):
        tag, at = _number(message, at)
        length, at = _number(message, at)
        assert tag & 7 == 2
        found[tag >> 3] = message[at : at + length]
        at += length
    return found


def _number(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def packed(number: int, value: bytes) -> bytes:
    """A field as protobuf writes it."""
    length, size = b"", len(value)
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + value


class Server(flight.FlightServerBase):
    """Answers statements and prepared statements; `asked` has every text."""

    def __init__(self, file: Path) -> None:
        super().__init__("grpc://127.0.0.1:0")
        self._file = str(file)
        self.asked: list[str] = []

    def do_action(self, context: Any, action: Any) -> Iterator[bytes]:
        """Prepare a statement: its text is its handle."""
        if action.type == "CreatePreparedStatement":
            query = fields(fields(action.body.to_pybytes())[2])[1]
            schema = self._table(query.decode()).schema.serialize().to_pybytes()
            result = packed(1, query) + packed(2, schema)
            kind = (_TYPE + "ActionCreatePreparedStatementResult").encode()
            yield packed(1, kind) + packed(2, result)

    def get_flight_info(self, context: Any, descriptor: Any) -> Any:
        """Where the rows of a statement are: here, under its text."""
        query = fields(fields(descriptor.command)[2])[1]
        schema = self._table(query.decode()).schema
        return flight.FlightInfo(schema, descriptor, [flight.FlightEndpoint(query, [])], -1, -1)

    def do_get(self, context: Any, ticket: Any) -> Any:
        """The rows."""
        text = ticket.ticket.decode()
        self.asked.append(text)
        return flight.RecordBatchStream(self._table(text))

    def _table(self, text: str) -> pa.Table:
        with duckdb.connect(self._file) as connection:
            return connection.sql(text).to_arrow_table()


@contextmanager
def serving(file: Path) -> Iterator[Server]:
    """A server over a DuckDB file that could be written to."""
    server = Server(file)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(10)
