"""Filters made of a user's function `keep(text, record)`."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from corpusmill.messages.sentences import sentence
from corpusmill.mill.filters.declaration import Filter, Value
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.read.plugins import UsersCode, one_line, place_of

NO_REASON = "dropped"
"""Reason recorded if `keep` returns False or an empty text."""


def as_text(said: str) -> str:
    """Return a reason as valid UTF-8."""
    return said.encode("utf-8", "backslashreplace").decode("utf-8")


def refuse_other_parameters(keep: Callable[..., bool | str], file: str) -> None:
    """Raise ValueError if a Python function cannot be called as `keep(text, record)`."""
    if inspect.isfunction(keep):
        try:
            inspect.signature(keep).bind("", {})
        except TypeError as error:
            raise ValueError(
                f"{file}: the function keep has the parameters {inspect.signature(keep)}, but is "
                f"called with a text and its record: {sentence(str(error))} Define it as def "
                "keep(text, record)."
            ) from error


def keep_filter(
    name: str, keep: Callable[[str, dict[str, Any]], bool | str], file: str
) -> type[Filter]:
    """Return a filter that drops a document if `keep` returns False or a reason, a text."""
    refuse_other_parameters(keep, file)

    class Keep(Filter):
        fate = name
        needs = ("records",)
        values = {"reason": Value("text", f"why {file} rejects it")}

        def measure_documents(self, documents: Documents) -> dict[str, list[str | None]]:
            reasons, users_code = [], UsersCode(f"keep of {file}")
            for row, (text, record) in enumerate(documents.records()):
                try:
                    with users_code:
                        said = keep(text, record)
                except Exception as error:
                    raise ValueError(
                        f"{place_of(error, file)}: {one_line(error)}, at the document "
                        f"{documents.place(row)}"
                    ) from error
                if not isinstance(said, bool | str):
                    raise ValueError(
                        f"{file}: keep returned {said!r} for the document {documents.place(row)}, "
                        "expected True, False or a text: the reason for dropping the document"
                    )
                reasons.append(None if said is True else as_text(said or NO_REASON))
            return {"reason": reasons}

        def drops(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
            return values["reason"] != None  # noqa: E711, element by element

    Keep.__doc__ = keep.__doc__ or f"Drops documents that the function keep in {file} rejects."
    return Keep
