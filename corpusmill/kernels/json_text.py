"""Turn JSON strings into the UTF-8 that they stand for, if it is certainly valid and in NFC."""

import numpy as np

from corpusmill.kernels.jit import kernel

BACKSLASH = 0x5C
FIRST_PRINTABLE = 0x20


@kernel
def inert_utf8(raw, escapes, inert, out):
    """Write the text of a JSON string to `out` and return its bytes; -1 if it is not certain.

    raw: uint8, what is between the quotes; a quote stands only after a backslash. escapes: uint8
    (256,), the byte that a backslash and this byte stand for; 0: none. inert: uint8 (0x110000,),
    whether a code point is in NFC beside any other. out: uint8, as long as raw.
    """
    size = raw.size
    i = 0
    n = 0
    while i < size:
        a = np.uint32(raw[i])
        if a < 0x80:
            if a == BACKSLASH:
                i += 1
                a = np.uint32(escapes[raw[i]]) if i < size else np.uint32(0)
                if a == 0:
                    return -1
            elif a < FIRST_PRINTABLE:
                return -1
            out[n] = a
            n += 1
            i += 1
        elif a < 0xE0:
            if i + 1 >= size:
                return -1
            b = np.uint32(raw[i + 1])
            point = (a & np.uint32(0x1F)) << np.uint32(6) | (b & np.uint32(0x3F))
            if (a < 0xC2) | (b >> np.uint32(6) != 2) | (inert[point] == 0):
                return -1
            out[n] = a
            out[n + 1] = b
            n += 2
            i += 2
        elif a < 0xF0:
            if i + 2 >= size:
                return -1
            b = np.uint32(raw[i + 1])
            c = np.uint32(raw[i + 2])
            point = (a & np.uint32(0x0F)) << np.uint32(12)
            point |= (b & np.uint32(0x3F)) << np.uint32(6) | (c & np.uint32(0x3F))
            if (b >> np.uint32(6) != 2) | (c >> np.uint32(6) != 2) | (point < 0x800):
                return -1
            if inert[point] == 0:
                return -1
            out[n] = a
            out[n + 1] = b
            out[n + 2] = c
            n += 3
            i += 3
        elif a < 0xF5:
            if i + 3 >= size:
                return -1
            b = np.uint32(raw[i + 1])
            c = np.uint32(raw[i + 2])
            d = np.uint32(raw[i + 3])
            point = (a & np.uint32(0x07)) << np.uint32(18) | (b & np.uint32(0x3F)) << np.uint32(12)
            point |= (c & np.uint32(0x3F)) << np.uint32(6) | (d & np.uint32(0x3F))
            if (b >> np.uint32(6) != 2) | (c >> np.uint32(6) != 2) | (d >> np.uint32(6) != 2):
                return -1
            if (point < 0x10000) | (point > 0x10FFFF) or inert[point] == 0:
                return -1
            out[n] = a
            out[n + 1] = b
            out[n + 2] = c
            out[n + 3] = d
            n += 4
            i += 4
        else:
            return -1
    return n
