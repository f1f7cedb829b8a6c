"""The rules, in the order of their codes; one family a module, and every module here is one."""

import importlib
import pkgutil

from customgrad.checker.rule import Rule

__all__ = ["RULES"]


def _rules() -> list[Rule]:
    """Return the rules that the modules of this folder define."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = [value for m in modules for value in vars(m).values() if isinstance(value, Rule)]
    return sorted({rule.code: rule for rule in found}.values(), key=lambda rule: rule.code)


RULES: list[Rule] = _rules()
