"""The commands: their names, their options, and which module runs them.

`hinge --help` loads this module, so it imports little; the module of a command is imported when the command is run.
(argparse and not typer: typer loads pydantic, which takes longer than learning from 100 MB.)
"""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
from typing import Any, NoReturn

from .. import __version__

# Each is a module with `add_arguments(parser)` and `run(arguments) -> exit code`. Its docstring is the help.
COMMANDS = {
    "learn": "learn from a stream, with progressive validation",
    "predict": "write the predictions of a model to the standard output or a file",
    "compare": "compare several learners on the same stream in one pass: a table and a plot",
    "tune": "try a grid over C and steps in one pass, and choose by progressive error",
    "inspect": "show a model: its statistics, its largest weights, its guarantees",
    "algorithms": "list the published algorithms, with task, paper and theorem",
    "papers": "reproduce the experiments of the papers: figures, tables, verdicts",
    "demo": "learn from a real stream, and compare the mistakes with the guarantees",
    "completion": "print a script that completes commands and options in your shell",
    "version": "print the versions of hinge and of its dependencies",
}
WRONG_USE = 2


class Parser(argparse.ArgumentParser):
    """Errors in one line, as everywhere in hinge, with a suggestion for a mistyped option."""

    def parse_intermixed_args(self, args: Any = None, namespace: Any = None) -> Any:
        parsed, unknown = self.parse_known_intermixed_args(args, namespace)
        if unknown:
            import difflib

            name = next((text for text in unknown if text.startswith("-")), "").partition("=")[0]
            if not name:
                self.error(f"unrecognized arguments: {' '.join(unknown)}")
            options = {option.lower(): option for option in self._option_string_actions}
            near = difflib.get_close_matches(name.lower(), options, n=1)
            self.error(f"there is no option {name}" + (f": did you mean {options[near[0]]}?" if near else ""))
        return parsed

    def error(self, message: str) -> NoReturn:
        from ..streams.files import printable

        print(printable(f"{self.prog}: {message} ('{self.prog} --help' explains)"), file=sys.stderr)
        raise SystemExit(WRONG_USE)


class Formatter(argparse.HelpFormatter):
    """Shows the first sentence about each option of the learners; `WholeFormatter` (--help-all) shows all of it."""

    brief = True

    def __init__(self, prog: str, **given: Any) -> None:
        super().__init__(prog, max_help_position=26, width=100)

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any) -> str:
        """The usage names only what is required: the options are listed below it."""
        if usage is None:
            needed = [action for action in actions if action.required or not action.option_strings]
            usage = " ".join([self._prog, "[options]", *map(_usage_of, needed)])
        return super()._format_usage(usage, actions, groups, prefix)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wraps the paragraphs of a docstring, but not its examples, which are indented."""
        parts = text.strip().split("\n\n")
        fill = super()._fill_text
        return "\n\n".join(part if part.startswith(" ") else fill(part, width, indent) for part in parts)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return help_of(action, self.brief)


class WholeFormatter(Formatter):
    brief = False


def help_of(action: argparse.Action, brief: bool = False) -> str | None:
    """The help of an option. That of an option of the learners is made from the table when it is shown."""
    if not hasattr(action, "parameter"):
        return action.help
    from .options import parameter_help

    return parameter_help(action.parameter, brief)


def _usage_of(action: argparse.Action) -> str:
    if action.option_strings:
        return f"{action.option_strings[0]} {action.metavar}"
    several = "..." if action.nargs in ("+", "*") else ""
    return f"[{action.metavar}{several}]" if action.nargs in ("?", "*") else f"{action.metavar}{several}"


class _HelpAll(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        parser.formatter_class = WholeFormatter
        parser.print_help()
        parser.exit()


def command_parser(name: str) -> argparse.ArgumentParser:
    module = importlib.import_module(f".commands.{name}", __package__)
    parser = Parser(
        prog=f"hinge {name}", description=module.__doc__, formatter_class=Formatter, allow_abbrev=False, add_help=False
    )  # fmt: skip
    module.add_arguments(parser)
    group = parser.add_argument_group("help")
    group.add_argument("-h", "--help", action="help", help="Show this help.")
    if any(hasattr(action, "parameter") for action in parser._actions):
        group.add_argument("--help-all", action=_HelpAll, nargs=0, help="Show the full text of each option.")
    return parser


def whole(text: str, least: int = 1) -> int:
    """The type of an option that is a whole number."""
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"must be a whole number of {least} or more, not {text!r}")
    return number


def whole_or_zero(text: str) -> int:
    return whole(text, 0)


def main_help() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {about}" for name, about in COMMANDS.items())
    return f"""usage: hinge COMMAND [options]

Online margin learning: predict, get the true label, and update just enough.

commands:
{commands}

options:
  -h, --help  show this help
  --version   show the version

Start with 'hinge demo'. 'hinge COMMAND --help' explains a command.
"""


def run(arguments: list[str]) -> int:
    """Runs a command line and returns the exit code."""
    first = arguments[0] if arguments else "--help"
    if first in ("-h", "--help", "help"):
        print(main_help(), end="")
        return 0 if arguments else WRONG_USE
    if first == "--version":
        print(f"hinge {__version__}")
        return 0
    if first not in COMMANDS:
        import difflib

        near = difflib.get_close_matches(first, COMMANDS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(COMMANDS)}"
        print(f"hinge: there is no command {first!r}: {hint}", file=sys.stderr)
        return WRONG_USE
    parser = command_parser(first)
    # Options may come between files. (Not for `completion`: it gets an unfinished command line.)
    parse = parser.parse_args if first == "completion" else parser.parse_intermixed_args
    parsed = parse(arguments[1:])
    gc.freeze()  # the modules stay: the collector need not visit them
    gc.enable()
    code: int = importlib.import_module(f".commands.{first}", __package__).run(parsed)
    return code
