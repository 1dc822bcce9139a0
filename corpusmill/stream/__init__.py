"""Former name of `corpusmill.reader`, kept for trainers that import it."""

from corpusmill.reader import *  # noqa: F403
from corpusmill.reader import __all__ as __all__
