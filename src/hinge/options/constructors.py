"""Generates constructors, signatures and docstrings from the options table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, TypeVar

from . import hints, table
from .classes import CLASSES, ClassOptions
from .parameter import REQUIRED, Parameter

_Class = TypeVar("_Class", bound=type)
_Function = TypeVar("_Function", bound=Callable[..., None])


def constructor(name: str | None = None) -> Callable[[_Class], _Class]:
    """A class decorator: replaces `__init__` by one that makes the options attributes, and explains unknown options.

    The options, and their section of the docstring, are those of the class `name` in the table; without a name they
    are the arguments of the `__init__` in the source, which is for type checkers and readers only.
    """

    def decorate(cls: _Class) -> _Class:
        made: Any = cls
        shown, task = inspect.signature(made.__init__), None
        if name is not None:
            its = CLASSES[name]
            shown, task = _signature(its), its.task
            made._parameters, made._option_names = its.rows, frozenset(its.rows)
            made.__doc__ = filled(cls.__doc__ or "", its.rows, its.own)
        made.__init__ = _initializer(shown, task, hasattr(cls, "_initialized"))
        made.__init__.__qualname__, made.__init__.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
        return cls

    return decorate


def signature(name: str) -> Callable[[_Function], _Function]:
    """A decorator of an `__init__` with `**options`: gives it the signature of the class `name`."""

    def decorate(init: _Function) -> _Function:
        visible = inspect.signature(init).parameters.values()
        before = [each for each in visible if each.kind is Argument.POSITIONAL_OR_KEYWORD]
        init.__signature__ = _signature(CLASSES[name], before)  # type: ignore[attr-defined]
        return init

    return decorate


_SELF = Argument("self", Argument.POSITIONAL_OR_KEYWORD)


def _signature(its: ClassOptions, before: Iterable[Argument] = (_SELF,)) -> Signature:
    arguments = [*before]
    arguments += [_argument(its, name, Argument.POSITIONAL_OR_KEYWORD) for name in its.positional]
    arguments += [_argument(its, row.name, Argument.KEYWORD_ONLY) for row in its.keywords]
    return Signature(arguments, return_annotation="None")


def _argument(its: ClassOptions, name: str, kind: Any) -> Argument:
    row = its.rows[name]
    return Argument(name, kind, default=row.default, annotation=row.type)


def _initializer(shown: Signature, task: str | None, has_end: bool) -> Callable[..., None]:
    """An `__init__` that makes its arguments attributes, and calls `_initialized`, if there is one."""
    arguments = list(shown.parameters.values())[1:]
    names = frozenset(each.name for each in arguments)
    positional = [each.name for each in arguments if each.kind is Argument.POSITIONAL_OR_KEYWORD]
    defaults = {each.name: each.default for each in arguments if each.default is not REQUIRED}
    required = names - defaults.keys()

    def __init__(self: Any, *given: Any, **options: Any) -> None:
        if not options.keys() <= names:
            hints.check_known(type(self).__name__, task, options, names)
        if given:
            by_name = dict(zip(positional, given, strict=False))
            if len(by_name) < len(given) or not by_name.keys().isdisjoint(options):
                shown.bind(self, *given, **options)  # raises TypeError
            options.update(by_name)
        if not required <= options.keys():
            shown.bind(self, **options)  # raises TypeError
        mine = self.__dict__
        mine.pop("_ready", None)
        mine.update(defaults)
        mine.update(options)
        if has_end:
            self._initialized()

    __init__.__signature__ = shown  # type: ignore[attr-defined]
    return __init__


# ---- docstrings ----------------------------------------------------------------------------------------------


def describe(rows: Mapping[str, Parameter], first: Collection[str] = ()) -> list[str]:
    """The lines of the section: the options in `first`, then the others by groups."""
    lines = [line for name in first for line in _entry(rows[name])]
    for group, names in table.GROUPS.items():
        its = [rows[name] for name in names if name in rows and name not in first]
        if its:
            lines += ["", f"*{group[0].upper()}{group[1:]}*", ""]
        lines += [line for row in its for line in _entry(row)]
    return lines if lines[0] else lines[1:]


def _entry(row: Parameter) -> list[str]:
    default = "" if row.default is REQUIRED else f", default={row.default!r}"
    return [f"{row.name} : {row.allowed}{default}", f"    {row.help}"]


def filled(docstring: str, rows: Mapping[str, Parameter], first: Collection[str] = ()) -> str:
    """The docstring with the section in place of `{parameters}`.

    The section is indented as `{parameters}` is: from Python 3.13 on the compiler removes the common indentation.
    """
    before, found, after = docstring.partition("{parameters}")
    if not found:
        return docstring
    indent = before[before.rindex("\n") + 1 :]
    section = "\n".join(f"{indent}{line}" if line else "" for line in describe(rows, first)).lstrip()
    return before + section + after
