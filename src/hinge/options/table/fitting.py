"""The passes of `fit`: how many, in which order, and when they end."""

from __future__ import annotations

from ..parameter import ALL_BUT_PROTOTYPE, ONE_VECTOR, Parameter
from ..validators import is_bool, is_seed, or_none, real, whole

ROWS = (
    Parameter(
        "max_iter",
        1000,
        "int",
        "a whole number of 1 or more",
        whole(1),
        "The most passes over the data that `fit` makes.",
    ),
    Parameter(
        "tol",
        1e-3,
        "float | None",
        "None or a finite number, 0 or more",
        or_none(real(0, inclusive=True)),
        "`fit` stops when `n_iter_no_change` passes in a row have not lowered the mean loss by more than tol, and"
        " whenever a pass changes nothing. None: only when a pass changes nothing.",
        ALL_BUT_PROTOTYPE,
    ),
    Parameter(
        "n_iter_no_change",
        5,
        "int",
        "a whole number of 1 or more",
        whole(1),
        "After how many passes without improvement `fit` stops.",
        ALL_BUT_PROTOTYPE,
    ),
    Parameter(
        "early_stopping",
        False,
        "bool",
        "True or False",
        is_bool,
        "`fit` holds back some rows, stops when their `score` has not improved by `tol` in `n_iter_no_change` "
        "passes, and keeps the model with the best score.",
        ALL_BUT_PROTOTYPE,
    ),
    Parameter(
        "validation_fraction",
        0.1,
        "float",
        "a number between 0 and 1",
        lambda value: real(0)(value) and float(value) < 1,
        "With early_stopping: the share of the rows that is held back, of each class.",
        ALL_BUT_PROTOTYPE,
    ),
    Parameter(
        "shuffle",
        True,
        "bool",
        "True or False",
        is_bool,
        "Visit the rows in a new random order in each pass of `fit`.",
    ),
    Parameter(
        "batch_tolerance",
        None,
        "float | None",
        "None or a finite number greater than 0",
        or_none(real(0)),
        "If given, `fit` runs N03's batch conversion, which needs step='pa': it visits the rows in order and "
        "learns only those whose squared loss exceeds batch_tolerance, until there are none.",
        ONE_VECTOR,
    ),
    Parameter(
        "max_updates",
        1_000_000,
        "int",
        "a whole number of 1 or more",
        whole(1),
        "The batch conversion stops after so many updates: the data may not be realizable.",
        ONE_VECTOR,
    ),
    Parameter(
        "random_state",
        None,
        "int | np.random.RandomState | None",
        "None, a whole number from 0 to 2^32 - 1, or a numpy RandomState",
        is_seed,
        "The seed of the shuffling in `fit`.",
    ),
    Parameter(
        "verbose",
        0,
        "int",
        "a whole number, 0 or more",
        lambda v: is_bool(v) or whole(0)(v),
        "1 shows each pass of `fit`: as a bar on a terminal, else as a line.",
    ),
)
