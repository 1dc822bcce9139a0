"""Former name of `corpusmill.mill.read.records`."""

from corpusmill.mill.read.records import *  # noqa: F403
