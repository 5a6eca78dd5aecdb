"""`python -m sqlaudit`: the command, where it is installed but not in the path."""

from sqlaudit.cli import run

if __name__ == "__main__":
    run()
