"""One round of each scenario of torture.py; `make torture` runs them for minutes."""

import pytest
import torture


@pytest.mark.parametrize("scenario", torture.SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_no_scenario_loses_examples(scenario):
    torture.one_round(7, scenario)
