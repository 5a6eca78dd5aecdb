"""Where a result comes from: the engine, the time, what ran, and in which versions."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TypedDict

from sqlaudit.base.result import Timing
from sqlaudit.base.version import __version__
from sqlaudit.engines.contract import Engine


class Provenance(TypedDict):
    """The fields of this meaning, as every result names them."""

    engine: str
    access: str
    time: str
    statements: tuple[Timing, ...]
    versions: Mapping[str, str]


def provenance(engine: Engine, already: int, workbench: Engine | None = None) -> Provenance:
    """What a result says of its making; asked when it is finished.

    Args:
        already: how many statements the engine had run before the work began.
        workbench: where tables were brought together, if its statements are told of, too.
    """
    version = engine.version()
    executed = engine.executed[already:]
    if workbench is not None and workbench is not engine:
        executed = executed + workbench.executed
    return {
        "engine": version,
        "access": engine.access(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "statements": tuple(Timing(done.name, done.seconds, done.sql) for done in executed),
        "versions": {"sqlaudit": __version__, "engine": version},
    }
