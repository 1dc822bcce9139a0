"""What a reader of your own gives; see `corpusmill.mill.read.records`."""

from corpusmill.mill.read.records import *  # noqa: F403
