"""Threads where the system may have none: a container at its limit of processes, or WebAssembly."""

from __future__ import annotations

import threading


def start_thread(thread: threading.Thread) -> bool:
    """Start a thread. Return False where none can be started, so that its work is done here or left out."""
    try:
        thread.start()
    except RuntimeError:
        return False
    return True
