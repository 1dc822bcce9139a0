"""Functions that Snakemake calls for every job."""

import inspect
from collections.abc import Callable


def quickly_called(function: Callable) -> Callable:
    """The same function with its signature at hand: Snakemake looks at it for every call, which
    otherwise is a tenth of a dry run of 40,000 jobs."""
    function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return function
