"""The whole pipeline once more, slow and plain, from its documentation alone.

Written from README.md, docs/reference without a look
at the mill's code, so that a run that ends well and wrong shows as a difference.
"""

from qa.oracle.compare import differences
from qa.oracle.document import Outcome
from qa.oracle.figures import counts
from qa.oracle.milling import expected

__all__ = ["Outcome", "counts", "differences", "expected"]
