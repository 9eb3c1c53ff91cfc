"""Plots. They need matplotlib (pip install 'hinge[plots]'), which is imported when the first one is drawn."""

from .curves import error_curves, progressive_curves, progressive_figure
from .fleets import AtAge, fleet_figure, plot_fleet
from .forms import forms_figure, plot_forms
from .history import history_figure, plot_history
from .reliability import plot_reliability, reliability_figure
from .style import MatplotlibMissing
from .votes import experts_figure, plot_experts

__all__ = [
    "AtAge",
    "MatplotlibMissing",
    "error_curves",
    "experts_figure",
    "fleet_figure",
    "forms_figure",
    "history_figure",
    "plot_experts",
    "plot_fleet",
    "plot_forms",
    "plot_history",
    "plot_reliability",
    "progressive_curves",
    "progressive_figure",
    "reliability_figure",
]
