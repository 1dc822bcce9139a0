"""Hash shingles: every run of `width` cleaned characters becomes a 32-bit number."""

import numpy as np

from corpusmill.kernels.jit import kernel

ROLLING_BASE = np.uint64(0x9E3779B97F4A7C15)
FINISH = np.uint64(0xD6E8FEB86659FD93)


@kernel
def rolled(value, chars, i, width, leaving):
    """Return the polynomial of the shingle at i + 1 from that of the shingle at i."""
    return value * ROLLING_BASE + np.uint64(chars[i + width]) - np.uint64(chars[i]) * leaving


@kernel
def finished(value):
    return np.uint32((value ^ value >> np.uint64(32)) * FINISH >> np.uint64(32))


@kernel
def rolling_hashes(chars, n, width, hashes):
    """Write the 32-bit hashes of all `width`-character shingles of chars[:n]; return their number.

    chars: uint32, room for n + 1 entries. hashes: uint32, room for max(1, n - width + 1). A text
    shorter than `width` is one shingle, an empty one has none. hash = top 32 bits of (P ^ P >> 32)
    * FINISH, where P is the polynomial sum(char[k] * BASE**(width - 1 - k)) modulo 2**64.
    """
    # All operands stay uint64: numba turns uint64 with a signed literal into float64.
    if n == 0:
        return 0
    first = min(n, width)
    count = n - first + 1
    # A product must wait for the one before it. So four stretches of the text are hashed in turns.
    quarter = count // 4
    a = b = c = d = np.uint64(0)
    leaving = np.uint64(1)  # BASE**width: the weight of the character that drops out
    for i in range(first):
        a = a * ROLLING_BASE + np.uint64(chars[i])
        b = b * ROLLING_BASE + np.uint64(chars[quarter + i])
        c = c * ROLLING_BASE + np.uint64(chars[2 * quarter + i])
        d = d * ROLLING_BASE + np.uint64(chars[3 * quarter + i])
        leaving = leaving * ROLLING_BASE
    for i in range(quarter):
        hashes[i] = finished(a)
        hashes[quarter + i] = finished(b)
        hashes[2 * quarter + i] = finished(c)
        hashes[3 * quarter + i] = finished(d)
        a = rolled(a, chars, i, first, leaving)
        b = rolled(b, chars, quarter + i, first, leaving)
        c = rolled(c, chars, 2 * quarter + i, first, leaving)
        d = rolled(d, chars, 3 * quarter + i, first, leaving)
    for i in range(4 * quarter, count):
        hashes[i] = finished(d)
        d = rolled(d, chars, i, first, leaving)
    return count


@kernel
def put_utf8(point, block, at):
    """Write the UTF-8 bytes of a code point to block[at:]; return where they end."""
    if point < 0x80:
        block[at] = point
        return at + 1
    if point < 0x800:
        block[at] = 0xC0 | point >> 6
    else:
        if point < 0x10000:
            block[at] = 0xE0 | point >> 12
        else:
            block[at] = 0xF0 | point >> 18
            at += 1
            block[at] = 0x80 | (point >> 12 & 0x3F)
        at += 1
        block[at] = 0x80 | (point >> 6 & 0x3F)
    at += 1
    block[at] = 0x80 | (point & 0x3F)
    return at + 1


@kernel
def rotated(x, bits):
    return np.uint32(x << np.uint32(bits)) | np.uint32(x >> np.uint32(32 - bits))


@kernel
def sha1_first_word(message, length, w):
    """Return the first 32 bits of SHA-1 of message[:length] as a big-endian number.

    message: uint8, with room for the padding (length + 72). w: uint32 (80,), scratch.
    """
    h0, h1, h2, h3, h4 = (
        np.uint32(0x67452301),
        np.uint32(0xEFCDAB89),
        np.uint32(0x98BADCFE),
        np.uint32(0x10325476),
        np.uint32(0xC3D2E1F0),
    )
    padded = (length + 8) // 64 * 64 + 64
    message[length] = 0x80
    message[length + 1 : padded] = 0
    bits = length * 8
    for k in range(4):
        message[padded - 1 - k] = bits >> (8 * k) & 0xFF
    for block in range(0, padded, 64):
        for t in range(16):
            at = block + 4 * t
            w[t] = (
                np.uint32(message[at]) << np.uint32(24)
                | np.uint32(message[at + 1]) << np.uint32(16)
                | np.uint32(message[at + 2]) << np.uint32(8)
                | np.uint32(message[at + 3])
            )
        for t in range(16, 80):
            w[t] = rotated(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1)
        a, b, c, d, e = h0, h1, h2, h3, h4
        for t in range(80):
            if t < 20:
                f, k = b & c | ~b & d, np.uint32(0x5A827999)
            elif t < 40:
                f, k = b ^ c ^ d, np.uint32(0x6ED9EBA1)
            elif t < 60:
                f, k = b & c | b & d | c & d, np.uint32(0x8F1BBCDC)
            else:
                f, k = b ^ c ^ d, np.uint32(0xCA62C1D6)
            a, b, c, d, e = np.uint32(rotated(a, 5) + f + e + k + w[t]), a, rotated(b, 30), c, d
        h0, h1, h2, h3, h4 = (
            np.uint32(h0 + a),
            np.uint32(h1 + b),
            np.uint32(h2 + c),
            np.uint32(h3 + d),
            np.uint32(h4 + e),
        )
    return h0


@kernel
def byte_swapped(x):
    return np.uint32(
        (x & np.uint32(0xFF)) << np.uint32(24)
        | (x & np.uint32(0xFF00)) << np.uint32(8)
        | (x >> np.uint32(8) & np.uint32(0xFF00))
        | x >> np.uint32(24)
    )


@kernel
def sha1_hashes(chars, n, width, message, w, hashes):
    """Write `sha1(utf8(shingle))[:4]` as a little-endian number for every shingle; return their
    number.

    Same as datasketch's default hash. A text shorter than `width` has no shingle, as in the
    SlimPajama scripts. message: uint8 (4 * width + 72,), w: uint32 (80,): scratch.
    """
    count = 0
    for i in range(n - width + 1):
        end = 0
        for k in range(width):
            end = put_utf8(chars[i + k], message, end)
        hashes[count] = byte_swapped(sha1_first_word(message, end, w))
        count += 1
    return count
