"""Gives the commands of the pages all the time they need: a profile's search ends by the clock, a busy machine is slow.

Python imports this when it starts with this folder on its path, as `tests/pages/test_docs.py` starts every command.
"""

import sys

if {"profile", "init"} & set(sys.orig_argv):
    from sqlaudit.profiles import together

    together.SECONDS = 110.0
