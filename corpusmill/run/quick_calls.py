"""Functions that Snakemake calls for every job."""

import inspect
from collections.abc import Callable


def quickly_called(function: Callable) -> Callable:
    """Return the function with its signature stored.

    Snakemake inspects the signature at every call: a tenth of a dry run of 40,000 jobs.
    """
    function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return function
