"""Fuzzing that coverage steers: atheris looks for texts that reach new places in the readers of texts.

    pip install atheris && python -m benchmarks.fuzz_coverage [-runs=200000] [-seed=1] [-max_total_time=600] [CORPUS]

The options are libFuzzer's. Every text goes through all readers of `tests/security/readers.py`; a text that crashes one
is kept as crash-…, and `python -m benchmarks.fuzz_coverage crash-…` runs it again.
"""

from __future__ import annotations

import logging
import sys
import warnings

import atheris

with atheris.instrument_imports(include=["sqlaudit"]):
    from tests.security.readers import read_everywhere


def one(data: bytes) -> None:
    """One text, made of the bytes that libFuzzer proposes."""
    read_everywhere(atheris.FuzzedDataProvider(data).ConsumeUnicode(len(data)))


def main() -> None:
    """Fuzz until the options say that it is enough."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
