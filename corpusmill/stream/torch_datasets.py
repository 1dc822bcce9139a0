"""Former name of `corpusmill.reader.torch_datasets`."""

from corpusmill.reader.torch_datasets import *  # noqa: F403
