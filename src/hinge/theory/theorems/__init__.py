"""The theorems. The modules enter them into one table, in this order."""

from . import labels as labels
from . import second_order as second_order
from . import single as single
from .single import cache_bound as cache_bound
from .table import TABLE as TABLE
from .table import Guarantee as Guarantee
from .table import guarantees as guarantees
from .table import strongest as strongest
