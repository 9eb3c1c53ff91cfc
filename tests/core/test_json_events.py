"""Lines of JSON as the core reads them, compared with json.loads and the rules for records."""

from __future__ import annotations

import json
import string
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hinge import InputError, Learner
from hinge.features.names import escaped_fields
from hinge.streams.formats.json_lines import _not_json
from programs import compiled


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("json_alone", tmp_path_factory.mktemp("core"))


def test_lines_become_events_without_python(program: Path) -> None:
    ran = subprocess.run([str(program), "checks"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "lines become events\n", "")


def read_natively(program: Path, lines: list[bytes], *options: str) -> list[Any]:
    """For each line the features with their bits and the fields label, weight and key; or (feature, reason)."""
    command = [str(program), "label", "weight", "key", *options]
    ran = subprocess.run(
        command, input=b"".join(line + b"\n" for line in lines), capture_output=True, check=True
    )
    found: list[Any] = []
    for line in ran.stdout.decode().splitlines():
        kind, *words = line.split(" ")
        if kind == "rejected":
            name, reason = (bytes.fromhex(word).decode() for word in words)
            found.append((name, reason))
            continue
        fields = {}
        for word in words[:3]:
            name, its_kind, shown = word.split(":")
            fields[name] = (its_kind, bytes.fromhex(shown).decode())
        pairs = (word.split("=") for word in words[3:])
        found.append(([(bytes.fromhex(name).decode(), bits) for name, bits in pairs], fields))
    assert len(found) == len(lines)
    return found


def bits(value: float) -> str:
    return struct.pack(">d", value).hex()


ANY = "*"  # whatever the reason: there may be several
ASIDE = ("label", "weight", "key")
CONSTANT = "is not a finite number: null is for what is missing"
KINDS = {type(None): "null", int: "integer", float: "real", str: "string", list: "list", dict: "object"}


def read_in_python(line: bytes, options: tuple[str, ...]) -> Any:
    """The same by json.loads and the rules for records."""

    def constant(name: str) -> float:
        raise InputError(f"{name} {CONSTANT}")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if "last" not in options and len(dict(pairs)) < len(pairs):
            raise InputError(ANY)
        return dict(pairs)

    try:
        text = line.decode()
        record = json.JSONDecoder(parse_constant=constant, object_pairs_hook=unique).decode(text)
        if not isinstance(record, dict):
            raise InputError(ANY)
        json.dumps(record, ensure_ascii=False).encode()  # halves of surrogate pairs are rejected
        fields = {name: value for name, value in record.items() if name not in ASIDE}
        fields = escaped_fields(fields) if "escapes" in options else fields
        found = Learner("regression")._engine.look_up(fields, 0, False)
    except json.JSONDecodeError as error:
        return "", _not_json(error, text)[0]
    except UnicodeDecodeError:
        return "", ANY
    except UnicodeEncodeError:
        return "", "there is half of a surrogate pair (\\ud800 to \\udfff)"
    except InputError as error:
        return str(error.column or ""), error.reason
    of = {name: record.get(name) for name in ASIDE}
    kinds = {name: KINDS.get(type(value), str(value).lower()) for name, value in of.items()}
    kinds = {name: kind if name in record else "none" for name, kind in kinds.items()}
    return [(name, bits(value)) for name, value, *_ in found], kinds


def compare(program: Path, lines: list[bytes], *options: str) -> None:
    lines = [line.replace(b"\n", b" ") for line in lines]
    for line, native in zip(lines, read_natively(program, lines, *options), strict=True):
        python = read_in_python(line, options)
        if isinstance(python[0], list):
            assert native[0] == python[0], line
            assert {name: kind for name, (kind, _) in native[1].items()} == python[1], line
            continue
        assert isinstance(native[0], str), (line, native, python)
        if python[1] != ANY:  # Python shows numbers in its own way
            assert native[0] == python[0], line
            assert native[1].partition(", there is")[0] == python[1].partition(", there is")[0], line


NAMES = st.one_of(
    st.sampled_from(
        ["a", "b", "a.b", "a=x", "label", "weight", "key", "", "é", "\U0001f600", 'q"\\/', "a long name here"]
    ),
    st.text(max_size=20),
)
NUMBERS = st.one_of(
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.floats(allow_nan=False),
    st.sampled_from(
        [0, 1, -1, 0.0, -0.0, 2**53 + 1, 2**63, 2**64, 10**22, 1.5, 5e-324, 1.7976931348623157e308]
    ),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, NUMBERS, st.text(max_size=40))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.dictionaries(NAMES, inner, max_size=4),
        st.lists(NUMBERS, max_size=4),
        st.lists(st.one_of(st.none(), st.text(max_size=3)), max_size=4),
        st.lists(inner, max_size=3),
    ),
    max_leaves=12,
)
RECORDS = st.dictionaries(NAMES, VALUES, max_size=12)


@st.composite
def written(draw: st.DrawFn) -> bytes:
    """A record as JSON, in one of the ways to write it."""
    record = draw(RECORDS)
    ascii, spaces = (
        draw(st.booleans()),
        draw(st.sampled_from([(", ", ": "), (",", ":"), (" \t,\r ", "  :\t")])),
    )
    return json.dumps(record, ensure_ascii=ascii, separators=spaces).encode("utf-8", "replace")


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """The same with a change or two."""
    line = draw(written())
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(line)))
        some = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=2)))
        line = line[:at] + some + line[at + draw(st.integers(0, 3)) :]
    return line


PIECES = [
    b'"',
    b"\\",
    b"\\u",
    b"\\ud83d",
    b"\\ude00",
    b"\\u00e9",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"1",
    b"-",
    b"0",
    b".",
    b"e",
    b"E+",
    b"e400",
    b"null",
    b"true",
    b"false",
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"nul",
    b" ",
    b"\t",
    b"\x00",
    b"\x1f",
    b"\x7f",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\xff",
    b'"a": 1, ',
    b'"a": {"a": 2, "a": [3]}, ',
    b"12345678901234567890",
    b"0.00000000000000000000001",
]
OPTIONS = [(), ("last",), ("escapes",)]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@settings(deadline=None, max_examples=100)
@given(lines=st.lists(st.one_of(written(), damaged()), min_size=1, max_size=12))
@example(lines=[b'{"a": {"b": 1}, "c": 2, "a": {"b": 2, "b": 3}, "a": 4}'] * 3)
@example(
    lines=[
        b'{"a": 1, "b": [1, "x"]}',
        b'{"a": 1, "b": [{"c": [true, null, "d"]}]}',
        b"[1]",
        b"7",
        b"",
        b"\xef\xbb\xbf{}",
    ]
)
def test_events_are_those_of_python(program: Path, options: tuple[str, ...], lines: list[bytes]) -> None:
    compare(program, lines, *options)


@settings(deadline=None, max_examples=100)
@given(
    names=st.lists(st.sampled_from(string.ascii_lowercase[:12]), min_size=1, max_size=10),
    changes=st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from(["drop", "again", "swap", "nest"])), max_size=20
    ),
)
def test_fields_that_come_and_go(program: Path, names: list[str], changes: list[tuple[int, str]]) -> None:
    """Lines whose fields are nearly those of the line before."""
    lines = []
    for place, change in changes:
        at = place % len(names) if names else 0
        match change:
            case "drop":
                names = names[:at] + names[at + 1 :]
            case "again":
                names = [*names, *names[at : at + 1]]
            case "swap":
                names = names[at:] + names[:at]
        fields = [f'"{name}": {number}' for number, name in enumerate(names, 1)]
        inner = f', "z": {{{", ".join(fields)}}}' if change == "nest" else ""
        lines.append(f"{{{', '.join(fields)}{inner if fields else ''}}}".encode())
    for options in OPTIONS:
        compare(program, lines, *options)


DIGITS = st.text("0123456789", min_size=1, max_size=30)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.builds(
            lambda sign, whole, fraction, power: f'{{"a": {sign}{int(whole)}{fraction}{power}}}'.encode(),
            st.sampled_from(["", "-"]),
            DIGITS,
            st.one_of(st.just(""), DIGITS.map(".{}".format)),
            st.one_of(
                st.just(""), st.integers(-400, 400).map("e{}".format), st.integers(0, 30).map("E+{}".format)
            ),
        ),
        min_size=20,
        max_size=100,
    )
)
def test_numbers_are_those_of_python(program: Path, lines: list[bytes]) -> None:
    compare(program, lines)


def test_errors_are_those_of_python(program: Path) -> None:
    """Word by word, where Python shows values as they are written."""
    deep = b'{"a":' * 22 + b"1" + b"}" * 22
    lines = [
        b'{"a": [1, "b"]}',
        b'{"a": {"b": [true]}}',
        b'{"a": [[1]]}',
        b'{"a": ["x", {"b": [null, "c"]}]}',
        b'{"a": 1e999}',
        b'{"a": [1, -1e999]}',
        b'{"a": 1%s}' % (b"0" * 400),
        deep,
        b'{"a": NaN}',
        b'{"NaN": -Infinity}',
        b'{"a": "\\ud800"}',
        b'{"a": 1',
        b'{"a": 1} x',
        b"label 1:2",
        b'{"a": 1e}',
        b'{"a" 1}',
        b"{1}",
        b'{"a": "\\x"}',
        b'{"a": "\x01"}',
        b'{"a": "b',
        b'{"a": "b\\',
        b'{"a": "\\u12g4"}',
        b'{"a": -}',
        b'{"a": tru}',
        b"",
    ]
    if sys.version_info < (3, 13):  # later versions have their own words for it
        lines.append(b'{"a": 1,}')
    for line, native in zip(lines, read_natively(program, lines), strict=True):
        assert native == read_in_python(line, ()), line
    assert read_natively(program, [b'{"a": 1%s}' % (b"0" * 5000)]) == [
        ("", "there is a number with thousands of digits")
    ]
