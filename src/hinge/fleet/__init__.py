"""Fleets: a small model for each of many keys."""

from .fleet import Fleet as Fleet
from .forms import Form as Form
from .forms import Forms as Forms
from .forms import compare_forms as compare_forms
from .view import Share as Share
from .view import View as View

__all__ = ["Fleet", "Form", "Forms", "Share", "View", "compare_forms"]
