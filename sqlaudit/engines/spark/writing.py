"""Making a view in Spark's catalog: a connection of its own, and one statement that writes."""

from __future__ import annotations

from functools import partial
from typing import Any

from sqlaudit.base.errors import PermissionDenied, SqlauditError, UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.spec import Limits
from sqlaudit.base.words import spelled
from sqlaudit.engines.spark import session as spark_session
from sqlaudit.engines.spark.errors import condition, sentence
from sqlaudit.engines.spark.settings import settle
from sqlaudit.engines.spark.silence import quietly
from sqlaudit.engines.spark.start import PySparkException
from sqlaudit.engines.view import View, taken

DURING = "making the view"
_KINDS = {"VIEW": "view", "TEMPORARY": "temporary view", "MANAGED": "table", "EXTERNAL": "table"}


def make_view(db: str, view: View, replace: bool) -> None:
    """Make the view; see `create_view`."""
    lease = spark_session.lease(db, Limits())
    try:
        quietly(partial(settle, lease.session))
        refuse_fleeting(db, lease.session)
        quietly(partial(_make, lease.session, view, replace))
    except spark_session.FAILURES as error:
        raise _reason(error, view) from None
    finally:
        lease.give_back()


def refuse_fleeting(db: str, session: Any) -> None:
    """Nothing when a view lives longer than what this process starts.

    Raises:
        UsageError: the catalog lies in the memory of a Spark that is started here and ends with it.
    """
    own = session.conf.get("spark.sql.catalogImplementation", "in-memory") == "in-memory"
    if not db.startswith("sc://") and own and session.catalog.currentCatalog() == "spark_catalog":
        raise UsageError(
            "The catalog of this Spark ends with the process that started it, so a view in it would not last: name a "
            "server of Spark Connect (sc://host:port), configure a metastore, or write the release to a file "
            f"({spelled('to')})."
        )


def _make(session: Any, view: View, replace: bool) -> None:
    name = ".".join(quote(part, "spark") for part in view.parts())
    refusal = taken(view, _kind(session, name), replace)
    if refusal is not None:
        raise refusal
    text = view.statement("spark")
    session.sql(text.replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1) if replace else text).collect()


def _kind(session: Any, name: str) -> str:
    """What has the name; empty = nothing."""
    if not session.catalog.tableExists(name):
        return ""
    return _KINDS.get(session.catalog.getTable(name).tableType, "table")


def _reason(error: Exception, view: View) -> SqlauditError:
    """What went wrong, in words for somebody who wants to write for once."""
    code = condition(error).partition(".")[0] if isinstance(error, PySparkException) else ""
    if code in ("SCHEMA_NOT_FOUND", "CATALOG_NOT_FOUND"):
        return UsageError(f"There is no schema for the view {view.name!r}.")
    if code == "INVALID_TEMP_OBJ_REFERENCE":
        return UsageError(f"The view {view.name!r} would read a temporary view, which others do not see; name a table.")
    if code in ("INSUFFICIENT_PERMISSIONS", "PERMISSION_DENIED"):
        return PermissionDenied(f"This user may not make the view {view.name!r}.")
    return sentence(error, DURING)
