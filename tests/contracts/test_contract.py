"""Every check on every case that it is for. The cases are listed in contract_cases.py, the checks are in checks/."""

from __future__ import annotations

import pytest

from checks import CHECKS, yield_checks
from contract_cases import CASES


@pytest.mark.parametrize(
    ("case", "check"),
    [
        pytest.param(case, check, id=f"{case}-{check.__name__}")
        for case in CASES
        for check in yield_checks(case)
    ],
)
@pytest.mark.filterwarnings("ignore::hinge.IneffectiveWeights")
def test_contract(case, check):
    check(case)


def test_names_are_unique_and_every_check_has_a_case():
    assert len({case.name for case in CASES}) == len(CASES)
    assert {check for case in CASES for check in yield_checks(case)} == {check for check, _ in CHECKS}
