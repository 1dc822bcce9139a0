"""Read pickles of plain values: numbers, texts and dicts. Untrusted pickles run no code here."""

import io
import pickle
import pickletools
from typing import Any

PLAIN = {
    "PROTO", "FRAME", "EMPTY_DICT", "MEMOIZE", "BINGET", "LONG_BINGET", "MARK", "SHORT_BINUNICODE",
    "BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1", "SETITEM", "SETITEMS", "STOP",
}  # fmt: skip
"""Opcodes for dicts of texts and numbers. None of them imports, calls or allocates anything."""
MOST_BYTES = 1 << 20


def plain_values(data: bytes, where: object) -> dict[str, Any]:
    """Return the dict in a pickle; ValueError if it has more than texts, numbers and dicts."""
    try:
        if len(data) > MOST_BYTES:
            raise ValueError(f"{len(data):,} bytes")
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name not in PLAIN:
                raise ValueError(f"{opcode.name} {argument or ''}".strip())
        found = _NoNames(io.BytesIO(data)).load()
    except (ValueError, pickle.UnpicklingError, LookupError, TypeError, EOFError) as error:
        raise _not_plain(where, str(error)) from error
    if not _is_plain(found, levels=2):
        raise _not_plain(where, "other values")
    return dict(found)


class _NoNames(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"the name {module}.{name}")


def _is_plain(value: Any, levels: int) -> bool:
    """Return whether a value is a dict from text to texts, numbers and, up to `levels`, such
    dicts."""
    return isinstance(value, dict) and all(
        type(name) is str
        and (type(one) in (str, int) or (levels > 1 and _is_plain(one, levels - 1)))
        for name, one in value.items()
    )


def _not_plain(where: object, found: str) -> ValueError:
    return ValueError(f"{where}: expected a pickle of plain numbers and texts, found {found}.")
