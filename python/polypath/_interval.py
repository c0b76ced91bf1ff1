"""Means over runs, and how sure they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]

# The 97.5th percentile of Student's t with 1 to 30 degrees of freedom; with more it is that of the
# normal distribution within 4 %.
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
_NORMAL = 1.960


def mean_and_error(values: ArrayLike) -> tuple[Numbers, Numbers]:
    """The mean over the first axis, which is that of the runs, and half of its 95 % confidence
    interval by Student's t: NaN of a single run. NaNs among the values are no values."""
    given = np.atleast_2d(np.asarray(values, dtype=np.float64).T).T
    there = np.isfinite(given)
    count = there.sum(axis=0)
    mean = np.full(count.shape, np.nan)
    np.divide(np.where(there, given, 0.0).sum(axis=0), count, out=mean, where=count > 0)
    squares = np.where(there, (given - mean) ** 2, 0.0).sum(axis=0)
    several = count > 1
    freedom = np.where(several, count - 1, 1)
    quantile = np.where(freedom <= len(_T), np.take(_T, freedom - 1, mode="clip"), _NORMAL)
    error = quantile * np.sqrt(squares / freedom / np.maximum(count, 1))
    return mean, np.where(several, error, np.nan)
