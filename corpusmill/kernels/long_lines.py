"""Long lines of texts, counted."""

from corpusmill.kernels.jit import kernel

NEWLINE = 0x0A


@kernel
def count_long_lines(data, offsets, least, counts):
    """Count the lines, as newlines part them, of at least so many characters.

    data: uint8, valid UTF-8. offsets: int64 (documents + 1,). counts: int64 (documents,), written.
    """
    for d in range(offsets.size - 1):
        found = chars = 0
        for i in range(offsets[d], offsets[d + 1]):
            if data[i] == NEWLINE:
                found += chars >= least
                chars = 0
            else:
                chars += data[i] & 0xC0 != 0x80
        counts[d] = found + (chars >= least)
