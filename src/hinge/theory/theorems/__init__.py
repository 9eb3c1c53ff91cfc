"""The theorems: table.py is the machinery; first_order.py and second_order.py enter their theorems in this order."""

from . import first_order as first_order
from . import second_order as second_order
from .first_order import cache_bound as cache_bound
from .table import TABLE as TABLE
from .table import Guarantee as Guarantee
from .table import guarantees as guarantees
from .table import steps_with_theorems as steps_with_theorems
from .table import strongest as strongest
