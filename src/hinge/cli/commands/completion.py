"""Print a script that completes commands, options and their values in your shell.

The script calls hinge for each completion, so it is always up to date.

  hinge completion bash >> ~/.bashrc
  hinge completion zsh >> ~/.zshrc
  hinge completion fish > ~/.config/fish/completions/hinge.fish
"""

from __future__ import annotations

import argparse
import re

# Each calls `hinge completion --words` with the words so far, and completes files if that prints nothing.
SCRIPTS = {
    "bash": """_hinge_complete() {
    local IFS=$'\\n'
    COMPREPLY=($(hinge completion --words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -o bashdefault -F _hinge_complete hinge
""",
    "zsh": """_hinge_complete() {
    local -a found
    found=("${(@f)$(hinge completion --words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -- $found; else _files; fi
}
compdef _hinge_complete hinge
""",
    "fish": """function __hinge_complete
    hinge completion --words (commandline -opc)[2..] (commandline -ct) 2>/dev/null
end
complete -c hinge -a '(__hinge_complete)'
""",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "shell", choices=[*SCRIPTS], metavar="SHELL", nargs="?", help=f"{', '.join(SCRIPTS)}."
    )
    parser.add_argument(
        "--words", nargs=argparse.REMAINDER, help="Print the possible next words (used by the scripts)."
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.words is not None:
        print("\n".join(candidates(arguments.words)))
        return 0
    if arguments.shell is None:
        raise ValueError(f"hinge completion needs a shell: {', '.join(SCRIPTS)}")
    print(SCRIPTS[arguments.shell], end="")
    return 0


def candidates(words: list[str]) -> list[str]:
    """The possible completions of the last word; none if it may be a file."""
    from ..app import COMMANDS, command_parser

    *before, last = words or [""]
    if not before:
        return [name for name in COMMANDS if name.startswith(last)]
    if before[0] not in COMMANDS:
        return []
    parser = command_parser(before[0])
    options = {option: action for action in parser._actions for option in action.option_strings}
    if before[-1] in options and options[before[-1]].nargs is None:
        return [value for value in _values(options[before[-1]]) if value.startswith(last)]
    if last.startswith("-"):
        return sorted(option for option in options if option.startswith(last) and len(option) > 2)
    positional = next((action for action in parser._actions if not action.option_strings), None)
    if positional is None or (not last and before[0] == "compare"):  # learners come after the files
        return []
    return [value for value in _values(positional) if value.startswith(last)]


def _values(action: argparse.Action) -> list[str]:
    from ...options.catalogue import algorithms
    from ..options import PARAMETERS

    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    if action.dest == "algorithm" or (action.dest == "data" and "LEARNER" in str(action.metavar)):
        return ["committee", *(algorithm.name for algorithm in algorithms())]
    if action.dest in PARAMETERS:
        return re.findall(r"'([\w-]+)'", PARAMETERS[action.dest].allowed)
    return []
