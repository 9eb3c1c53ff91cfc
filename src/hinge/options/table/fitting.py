"""The passes of `fit`: how many, in which order, and when they end."""

from __future__ import annotations

from ..kinds import FLAG, NONNEGATIVE, POSITIVE, Kind, number, optional, whole
from ..parameter import ALL_BUT_PROTOTYPE, ONE_VECTOR, Parameter
from ..validators import is_bool, is_seed
from ..validators import whole as is_whole_from

ROWS = (
    Parameter("max_iter", 1000, whole(1), "The most passes over the data that `fit` makes."),
    Parameter(
        "tol",
        1e-3,
        optional(NONNEGATIVE),
        "`fit` stops when `n_iter_no_change` passes in a row have not lowered the mean loss by more than tol, and "
        "whenever a pass changes nothing. None: only when a pass changes nothing.",
        ALL_BUT_PROTOTYPE,
    ),
    Parameter(
        "n_iter_no_change",
        5,
        whole(1),
        "The number of passes in a row without improvement (see `tol`) after which `fit` stops.",
        ALL_BUT_PROTOTYPE,
    ),
    Parameter(
        "early_stopping",
        False,
        FLAG,
        "`fit` holds back some rows (`validation_fraction`), stops when their `score` has not improved by `tol` in "
        "`n_iter_no_change` passes, and keeps the model with the best score. Use it if the model overfits.",
        ALL_BUT_PROTOTYPE,
    ),
    Parameter(
        "validation_fraction",
        0.1,
        number("between 0 and 1", lambda value: value < 1),
        "The share of the rows that early_stopping holds back, taken from each class alike.",
        ALL_BUT_PROTOTYPE,
    ),
    Parameter("shuffle", True, FLAG, "Visit the rows in a new random order in each pass of `fit`."),
    Parameter(
        "batch_tolerance",
        None,
        optional(POSITIVE),
        "If given, `fit` runs N03's batch conversion, which needs step='pa': it visits the rows in order and learns "
        "only those whose squared loss exceeds `batch_tolerance`, until there are none. None: ordinary passes.",
        ONE_VECTOR,
    ),
    Parameter(
        "max_updates",
        1_000_000,
        whole(1),
        "The batch conversion stops after this many updates. Without the limit it would never end on data that no "
        "weights fit.",
        ONE_VECTOR,
    ),
    Parameter(
        "random_state",
        None,
        Kind(
            "int | np.random.RandomState | None",
            "None, a whole number from 0 to 2^32 - 1, or a numpy RandomState",
            is_seed,
        ),
        "The seed of the shuffling in `fit`. Give a number to get the same model in each run.",
    ),
    Parameter(
        "verbose",
        0,
        Kind("int", "a whole number, 0 or more", lambda value: is_bool(value) or is_whole_from(0)(value)),
        "1 shows each pass of `fit`: as a progress bar on a terminal, otherwise as a line.",
    ),
)
