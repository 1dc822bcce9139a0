"""The whole pipeline once more, slow and plain, from its documentation alone.

Written from README.md, docs/reference without a look
at the mill's code, so that a run that ends well and wrong shows as a difference.
"""

from oracle.compare import differences
from oracle.document import Outcome
from oracle.figures import counts
from oracle.milling import expected

__all__ = ["Outcome", "counts", "differences", "expected"]
