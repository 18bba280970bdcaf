"""What both notebooks share: reading the results of a scenario, and one look for all figures."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.ticker import NullLocator

HERE = Path(__file__).resolve().parent

# Okabe and Ito's colours, which people with any colour vision can tell apart; the dash is the second cue.
STYLE = {
    "none": {"color": "#555555", "linestyle": (0, (1, 1))},
    "fixed": {"color": "#CC79A7", "linestyle": (0, (3, 1, 1, 1))},
    "exponential": {"color": "#D55E00", "linestyle": "-"},
    "equal_jitter": {"color": "#E69F00", "linestyle": (0, (5, 2))},
    "full_jitter": {"color": "#0072B2", "linestyle": "-"},
    "decorrelated_jitter": {"color": "#009E73", "linestyle": (0, (7, 2, 1, 2))},
}


def results(scenario, name):
    """Read one CSV of a scenario's results. A policy may be called `none`, which is no missing value."""
    path = HERE.parent / "results" / scenario / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: run `retrystorm run {scenario}` in the folder above this one")
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def figure(title, measure, rows=1, columns=1, size=(9, 4.6), **options):
    """Axes under a title that states the finding and a subtitle that states the measure."""
    canvas, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **options)
    canvas.suptitle(title + ("\n" if rows == 1 else "\n\n"), x=0.01, ha="left", fontsize=13, fontweight="bold")
    canvas.text(0.01, 1 - 0.42 / size[1], measure, ha="left", va="top", fontsize=10, color="#555555")
    for axis in axes.flat:
        axis.spines[:].set_visible(False)
        axis.grid(axis="y", color="#dddddd", linewidth=0.8)
        axis.tick_params(length=0)
        axis.set_axisbelow(True)
    return axes[0, 0] if rows == columns == 1 else axes


def logarithmic(direction):
    """Make the x or the y axis logarithmic, with plain numbers."""
    direction.axes.set(**{f"{direction.axis_name}scale": "log"})
    direction.set_major_formatter("{x:,g}")
    direction.set_minor_locator(NullLocator())


def name_lines(axis, gap=13):
    """Write each line's name at its right end instead of in a legend, at least `gap` points apart."""
    axis.figure.draw_without_rendering()
    ends = []
    for line in axis.get_lines():
        if not line.get_label().startswith("_"):
            x, y = line.get_xdata()[-1], line.get_ydata()[-1]
            ends.append((axis.transData.transform((x, y))[1], x, y, line))
    lowest = float("-inf")
    for height, x, y, line in sorted(ends, key=lambda end: end[0]):
        points = height * 72 / axis.figure.dpi
        lifted = max(points, lowest + gap)
        lowest = lifted
        axis.annotate(
            line.get_label().replace("_", " "), (x, y), xytext=(8, lifted - points), textcoords="offset points",
            va="center", color=line.get_color(), fontweight="bold", annotation_clip=False,
        )
