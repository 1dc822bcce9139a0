"""Read users' lists: one entry per line, # comments, plain or compressed."""

import codecs
import re
from collections.abc import Iterator

from corpusmill.messages.progress import Silence
from corpusmill.mill.storage.streams import read_blocks

COMMENT = re.compile(r"(?:^|(?<=[ \t]))#.*$", re.MULTILINE)
OTHER_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16",
}  # fmt: skip
SHOWN = 5
"""Maximum number of wrong lines to report per file. In a file of another kind, every line is
wrong."""


def whole_lines(path: str) -> Iterator[bytes]:
    """Yield the content of a file in pieces of whole lines."""
    open_line = b""
    for block in read_blocks(path, Silence()):
        lines, newline, rest = block.rpartition(b"\n")
        if newline:
            yield open_line + lines + newline
            open_line = rest
        else:
            open_line += block
    yield open_line


def decoded(path: str, line: int, piece: bytes) -> str:
    """Decode a piece that starts at line `line`; ValueError if it is not UTF-8."""
    if line == 1:
        for mark, encoding in OTHER_MARKS.items():
            if piece.startswith(mark):
                raise ValueError(f"{path}: expected UTF-8, found {encoding}. Save it as UTF-8.")
        piece = piece.removeprefix(codecs.BOM_UTF8)
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line + piece.count(b"\n", 0, error.start)
        raise ValueError(
            f"{path}:{at}: expected UTF-8, found the byte 0x{piece[error.start]:02x}, probably in "
            "a different encoding. Save the file as UTF-8."
        ) from error


def list_pieces(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield batches of lines, each with the number of its first line.

    Comments and surrounding white space are removed; empty lines are kept. ValueError if the file
    is damaged or not UTF-8.
    """
    line = 1
    for piece in whole_lines(path):
        text = decoded(path, line, piece)
        if "#" in text:
            text = COMMENT.sub("", text)
        yield line, [one.strip() for one in text.split("\n")]
        line += piece.count(b"\n")


def entries(path: str) -> list[str]:
    """Return all entries of a list."""
    return [one for _, lines in list_pieces(path) for one in lines if one]


def wrong_lines(path: str, good: re.Pattern[str], expected: str) -> Iterator[str]:
    """Yield faults of a list: unreadable file, no entries, or lines that do not match `good`."""
    wrong = count = 0
    try:
        for first, lines in list_pieces(path):
            for number, entry in enumerate(lines, first):
                count += bool(entry)
                if entry and not good.fullmatch(entry):
                    wrong += 1
                    if wrong <= SHOWN:
                        yield (
                            f"{path}:{number}: expected {expected}, found {entry[:80]!r}. Correct "
                            "or remove the line."
                        )
    except ValueError as error:
        yield str(error)
        return
    if wrong > SHOWN:
        yield f"{path}: {wrong - SHOWN} more lines have the same fault."
    if not count:
        yield (
            f"{path}: expected {expected} per line, found no entry. Add entries, or remove the "
            "list from the configuration."
        )
