"""Count long lines of texts."""

from corpusmill.kernels.jit import kernel
from corpusmill.kernels.splitting import find_newline


@kernel
def count_chars(data):
    """Count the characters of valid UTF-8."""
    chars = 0
    for byte in data:
        chars += byte & 0xC0 != 0x80
    return chars


@kernel
def count_long_lines(data, offsets, least, counts):
    """Count the lines, split at newlines, of at least `least` characters.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). counts: int64 (documents,), written.
    """
    for d in range(offsets.size - 1):
        counts[d] = 0
        start, stop = offsets[d], offsets[d + 1]
        while start <= stop:
            end = find_newline(data, start, stop)
            if end - start >= least:
                counts[d] += count_chars(data[start:end]) >= least
            start = end + 1
