"""The options of requests that name models: requirements, published rules, and further inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sqlaudit.base.options import NAMES, Given, Option, OptionKind, option, part
from sqlaudit.base.spec import HOLD, Requirement

# The registry of models is imported when a requirement is read, not when options are declared.

INPUTS = OptionKind("inputs", lambda _, value: value or {}, python="Mapping[str, Any] | None")
"""Further inputs of models, which the command line reads from a file."""
REQUIREMENTS_HELP = "k=5, l=3, t=0.2, recursive_l=c:3,l:2 ..."
PRESET_HELP = "A published rule; `sqlaudit models --presets`."


def requirements_among(registry_name: str) -> OptionKind:
    """Return the kind of requirements of the models that the registry lists under this name."""

    def read(_: str, value: Any) -> tuple[Requirement, ...]:
        from sqlaudit.models import registry

        return registry.requirements(value, among=getattr(registry, registry_name))

    return OptionKind("requirements", read, python="Require")


REQUIREMENTS = requirements_among("REGISTRY")
"""Requirements of a table of people."""


def requirements_part(
    among: str = "REGISTRY",
    presets: str = "of_rows",
    *,
    metavar: str = "MODEL=LIMIT",
    help: str = REQUIREMENTS_HELP,
    section: str = HOLD,
    preset_in_python: bool = False,
    **default: Any,
) -> Any:
    """Return the field of what must hold: `require`, and what published rules require.

    Args:
        among: the name under which the registry lists the models that may be required.
        presets: the function of `sqlaudit.models.presets` that says what presets require; empty = none are taken.
        metavar, help, section: of the help page.
        preset_in_python: whether Python takes presets as well.
        default: as `sqlaudit.base.options.part` has it; without it a request must have requirements.
    """
    kind = requirements_among(among)

    def make(given: Given, _: str) -> tuple[Requirement, ...]:
        return (*_required_by(presets, given.get("preset")), *kind.read("require", given.get("require")))

    def options() -> Iterable[Option]:
        yield Option("require", kind, help, section, metavar=metavar)
        if presets:
            yield Option("preset", NAMES, PRESET_HELP, HOLD, metavar="NAME", only_command_line=not preset_in_python)

    return part(make, options, **default)


def _required_by(presets: str, names: str | Iterable[str] | None) -> tuple[Requirement, ...]:
    """Return what presets require, by the function of this name."""
    if names is None:
        return ()
    from sqlaudit.models import presets as published

    rule: Callable[[Iterable[str]], tuple[Requirement, ...]] = getattr(published, presets)
    return rule(NAMES.read("preset", names))


def inputs_option() -> Any:
    """Return the option of further inputs of models, by name."""
    return option({}, INPUTS, "Further inputs of models: categories, orders, trees ...", HOLD, metavar="FILE")
