"""The help of `hinge learn` and of the estimators lists options in groups, those of the options table."""

from __future__ import annotations

import pytest

from hinge.cli.app import WholeFormatter, command_parser, help_of
from hinge.cli.options import OF_THE_LEARNER, flag, on_command_line
from hinge.options import table


def groups_of(command):
    """Each group of options with their names."""
    found = {}
    for group in command_parser(command)._action_groups:
        found[group.title] = [action.dest for action in group._group_actions]
    return found


def test_options_of_the_learner_are_in_their_groups():
    found = groups_of("learn")
    for title, names in table.GROUPS.items():
        its = [name for name in names if name in OF_THE_LEARNER]
        assert found.get(f"the learner ({title})", []) == its
    listed = [name for names in found.values() for name in names]
    assert len(listed) == len(set(listed))
    assert set(OF_THE_LEARNER) <= set(listed)
    assert not found["options"]  # each is in a group with a heading


def test_the_whole_help_has_the_headings_in_order():
    parser = command_parser("learn")
    parser.formatter_class = WholeFormatter
    text = parser.format_help()
    places = [text.index(f"\nthe learner ({title}):\n") for title in table.GROUPS if "fit" not in title]
    assert places == sorted(places)
    for name in OF_THE_LEARNER:
        assert flag(name) in text


@pytest.mark.parametrize("name", OF_THE_LEARNER)
def test_help_on_the_command_line_does_not_mention_python(name):
    parser = command_parser("learn")
    text = next(help_of(action) for action in parser._actions if action.dest == name)
    for word in ("In Python", "'pa", "None", "True", "False", "partial_fit", "FeatureMap", "a function", "`"):
        assert word not in text, text


def test_help_texts_are_in_the_notation_of_the_command_line():
    assert on_command_line("kernel='poly' and 'rbf': x.") == "--kernel poly and rbf: x."
    assert on_command_line("with signed=False, radius=None.") == "with --no-signed, --radius none."
    assert on_command_line("One. In Python, 1/(n * X.var()) of `fit`. Two.") == "One. Two."
    assert on_command_line("One. In Python, it is two.") == "One."
