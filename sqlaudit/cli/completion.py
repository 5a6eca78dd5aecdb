"""`sqlaudit completion`: the lines that make a shell complete commands, options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from sqlaudit.base.errors import ExitCode
from sqlaudit.cli.output import print_data
from sqlaudit.cli.requests import command_of


@command_of(click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"])))
def command(shell: str) -> int:
    """Print what makes SHELL complete commands and options: to be read when the shell starts.

    \b
      sqlaudit completion bash >> ~/.bashrc
      sqlaudit completion zsh >> ~/.zshrc
      sqlaudit completion fish > ~/.config/fish/completions/sqlaudit.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    found = kind(click.get_current_context().find_root().command, {}, "sqlaudit", "_SQLAUDIT_COMPLETE")
    print_data(found.source_template % found.source_vars())
    return ExitCode.OK
