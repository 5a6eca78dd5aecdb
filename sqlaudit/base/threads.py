"""Threads on systems that may have none: a container at its limit of processes, or WebAssembly."""

from __future__ import annotations

import threading


def start_thread(thread: threading.Thread) -> bool:
    """Start a thread; return False if none can be started, so that the caller must do or skip its work."""
    try:
        thread.start()
    except RuntimeError:
        return False
    return True
