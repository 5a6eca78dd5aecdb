"""A proxy in front of a server that stops forwarding at a moment of choice, as a network does that has failed."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType


class StallingProxy:
    """Forwards every connection to a port of this machine, until it stalls; then it takes all and gives nothing.

    Args:
        port: of the server. at: stall when a client sends this; empty = only when told.
    """

    def __init__(self, port: int, at: bytes = b"") -> None:
        self._target, self._at = port, at
        self.stalled = threading.Event()
        self._sockets: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])

    def __enter__(self) -> StallingProxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stalled.set()
        for one in [self._listening, *self._sockets]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)  # a thread that reads from it keeps it open otherwise
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            self._sockets += [client, server]
            threading.Thread(target=self._pump, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._pump, args=(server, client, False), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, from_client: bool) -> None:
        try:
            while data := source.recv(65536):
                if from_client and self._at and self._at in data:
                    self.stalled.set()
                if not self.stalled.is_set():
                    sink.sendall(data)
            if not self.stalled.is_set():
                sink.shutdown(socket.SHUT_WR)
        except OSError:
            return
