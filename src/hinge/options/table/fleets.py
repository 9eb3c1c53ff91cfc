"""The options that only fleets have: what keys share, and how much there may be of everything."""

from __future__ import annotations

from ..kinds import FLAG, NONNEGATIVE, Kind, choice, whole
from ..parameter import Parameter
from ..validators import is_memory

ROWS = (
    Parameter(
        "shared",
        True,
        FLAG,
        "What a key has. True: weights that all keys share, and personal weights on top of them; a new key begins with "
        "the shared ones. False: a model of its own, which equals a `Learner` that is given the same examples.",
    ),
    Parameter(
        "personal",
        0.5,
        Kind("float", "a number from 0 to 100", lambda value: NONNEGATIVE.accepts(value) and value <= 100),
        "How fast the personal weights learn, relative to the shared ones, if `shared`: an example x counts as "
        "(x, personal * x of its key). A smaller one trusts the other keys more.",
    ),
    Parameter(
        "max_keys",
        2**31,
        whole(1, 2**32 - 2),
        "How many keys the fleet holds at most.",
    ),
    Parameter(
        "at_max_keys",
        "error",
        choice("error", "ignore", "evict"),
        "What a new key does beyond `max_keys`. 'error': it is rejected. 'ignore': its examples are counted and not "
        "learned. 'evict': a key that has not learned for long is forgotten.",
    ),
    Parameter(
        "max_features",
        10_000,
        whole(1, 2**30),
        "How many features a key has at most.",
    ),
    Parameter(
        "at_max_features",
        "error",
        choice("error", "ignore", "evict"),
        "What a new feature does beyond `max_features`. 'error': the example is rejected. 'ignore': the feature is "
        "left out, and counted. 'evict': the feature of the key with the smallest weight is forgotten; shared "
        "features are left out.",
    ),
    Parameter(
        "max_shared_features",
        2**24,
        whole(1, 2**30),
        "How many features the shared weights have at most.",
    ),
    Parameter(
        "max_names",
        2**20,
        whole(0, 2**31),
        "How many names of features are kept, once for all keys, to show weights by name. Learning needs no names: "
        "it uses 32-bit hashes of them.",
    ),
    Parameter(
        "memory",
        None,
        Kind("int | str | None", "None, a number of bytes, or a text such as '4GB'", is_memory),
        "How much memory the keys may take. Beyond it, those that have not learned for long go to a temporary file (in "
        "the folder TMPDIR), and come back when they learn. None: no limit.",
    ),
)
NAME = Kind("str", "the name of a feature", lambda value: isinstance(value, str))
# Of River's classes, whose keys are a feature of x.
RIVERS_KEY = Parameter("key", "key", NAME, "The feature of x that is the key: a user, a shop, a sensor.")
# The options of learners that fleets have, too.
OF_LEARNER = (
    "C", "step", "margin", "epsilon", "beta", "geometry", "covariance_regularizer", "initial_variance",
    "covariance_update", "average", "fit_intercept", "intercept_value", "dtype", "classes", "max_labels",
)  # fmt: skip
