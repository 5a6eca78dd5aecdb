"""Standalone SQL: one SELECT for each check, for any warehouse, written without a connection to anything."""

from sqlaudit.gates.standalone.checks import Compiled, compile_checks, script
from sqlaudit.gates.standalone.names import DIALECTS

__all__ = ["DIALECTS", "Compiled", "compile_checks", "script"]
