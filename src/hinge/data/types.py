"""Types of arrays. Only type checkers import this module: it loads numpy."""

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
