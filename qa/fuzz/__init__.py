"""Seeded corpora and configurations that are hard to mill, and runs of them beside an oracle."""

from qa.fuzz.corpora import generate

__all__ = ["generate"]
