"""exp and log are hinge's own, to have the same bits on every machine: they are accurate over their whole range."""

from __future__ import annotations

import decimal
import math
import random
import subprocess
from decimal import Decimal

import pytest

from programs import compiled

MOST = Decimal(2)  # units in the last place


def ulps(found: float, exact: Decimal) -> Decimal:
    """The error in units in the last place of the exact value; of a subnormal one in the smallest units."""
    return abs(Decimal(found) - exact) / Decimal(math.ulp(float(exact)))


def numbers() -> list[float]:
    random_ = random.Random(0)
    near_0 = [random_.choice([-1, 1]) * 2.0 ** random_.uniform(-60, 3) for _ in range(800)]
    near_1 = [1 + random_.choice([-1, 1]) * 2.0 ** random_.uniform(-52, -1) for _ in range(3000)]
    exponents = [random_.uniform(-744, 709.7) for _ in range(1500)]
    subnormal = [random_.uniform(-744.4, -708) for _ in range(300)]
    sizes = [10.0 ** random_.uniform(-307, 308) for _ in range(1500)]
    halves = [math.sqrt(0.5) * (1 + random_.uniform(-1e-9, 1e-9)) for _ in range(100)]
    special = [
        0.0,
        -0.0,
        1.0,
        709.0,
        -708.0,
        math.nextafter(1, 0),
        math.nextafter(1, 2),
        5e-324,
        1e-310,
        1.7e308,
    ]
    return [*special, *near_0, *near_1, *exponents, *subnormal, *sizes, *halves]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[float, float, float]]:
    """x, e^x and log |x| as the core computes them."""
    program = compiled("arithmetic_alone", tmp_path_factory.mktemp("core"))
    xs = [*numbers(), 710.0, 1e300, -746.0, -1e300]
    text = "\n".join(x.hex() for x in xs)
    ran = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True)
    pairs = [tuple(map(float.fromhex, line.split())) for line in ran.stdout.splitlines()]
    return [(x, *pair) for x, pair in zip(xs, pairs, strict=True)]  # type: ignore[misc]


@pytest.fixture(autouse=True)
def _many_digits() -> object:
    with decimal.localcontext(decimal.Context(prec=50, Emax=10**6, Emin=-(10**6))):
        yield


def test_exponentials_are_accurate(found: list[tuple[float, float, float]]) -> None:
    within = [(x, power) for x, power, _ in found if -745 < x < 709.78]
    assert len(within) > 6000
    for x, power in within:
        assert ulps(power, Decimal(x).exp()) <= MOST, x


def test_exponentials_beyond_the_range_are_0_or_infinite(found: list[tuple[float, float, float]]) -> None:
    ends = {x: power for x, power, _ in found}
    assert [ends[x] for x in (710.0, 1e300, -746.0, -1e300)] == [math.inf, math.inf, 0.0, 0.0]
    assert ends[0.0] == ends[-0.0] == 1.0


def test_logarithms_are_accurate(found: list[tuple[float, float, float]]) -> None:
    for x, _, log in found:
        exact = Decimal(abs(x)).ln() if x != 0 else Decimal(0)
        if exact == 0:
            assert log == 0
        else:
            assert ulps(log, exact) <= MOST, x
