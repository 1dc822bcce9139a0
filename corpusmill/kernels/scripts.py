"""Find the script of texts, by the majority of their letters. The table is
`corpusmill.mill.filters.languages.script_table`'s."""

import numpy as np

from corpusmill.kernels.clean import decode_one
from corpusmill.kernels.jit import kernel

# Layout of a table entry: the script of a letter, 0 for others; above it the combining class.
SCRIPT = 0xFF
CLASS_SHIFT = 8
UPPER = 1 << 16  # `isupper` is true for texts of such letters
NOT_UPPER = 1 << 17  # but false for texts with one of these
COMPOSES = 1 << 18  # NFC may change it, or it and the character before
SIMPLIFIED = 1 << 19  # Chinese characters of only one of the two writing systems
TRADITIONAL = 1 << 20

# Indices in SCRIPTS of texts, but not of letters.
NO_SCRIPT, JPAN, HANS, HANT = 0, 1, 2, 3
# Indices of letters, from which the former are derived.
HANI, HIRA, KANA, LATN = 4, 5, 6, 7

# Flags that `survey` returns.
IS_UPPER = 1
MAY_COMPOSE = 2


@kernel
def main_script(counts, simplified, traditional):
    """Return the script of most letters. counts: int64 (scripts,), letters by script, overwritten.

    Chinese characters and kana together are Japanese if at least a twentieth is kana. Otherwise
    Chinese characters are simplified or traditional, whichever is more frequent.
    """
    kana = counts[HIRA] + counts[KANA]
    chinese = HANI
    if 20 * kana > counts[HANI]:
        chinese = JPAN
    elif simplified > traditional:
        chinese = HANS
    elif traditional > simplified:
        chinese = HANT
    together = counts[HANI] + kana
    counts[HANI] = counts[HIRA] = counts[KANA] = 0
    counts[chinese] = together
    best = np.argmax(counts)
    return best if counts[best] else NO_SCRIPT


@kernel
def survey(data, offsets, table, counts, scripts, kinds):
    """Find the script of every text, whether it is all upper case, and whether NFC may change it.

    table: uint32 (0x110000,). counts: int64 (scripts,), scratch. scripts, kinds: uint8
    (documents,), written; kinds: IS_UPPER and MAY_COMPOSE.
    """
    for d in range(scripts.size):
        counts[:] = 0
        all_bits = np.uint32(0)
        simplified = traditional = 0
        out_of_order = False
        before = np.uint32(0)  # combining class of the character before
        latin = 0
        i, stop = offsets[d], offsets[d + 1]
        while i < stop:
            if data[i] < 0x80:
                entry = table[data[i]]
                all_bits |= entry
                latin += (entry & SCRIPT) != 0
                before = np.uint32(0)
                i += 1
                continue
            point, i = decode_one(data, i)
            entry = table[point]
            all_bits |= entry
            counts[entry & SCRIPT] += 1
            if point >= 0x300:  # below, no character combines or is Chinese
                now = entry >> np.uint32(CLASS_SHIFT) & np.uint32(0xFF)
                out_of_order |= (now != 0) & (now < before)
                before = now
                simplified += (entry & SIMPLIFIED) != 0
                traditional += (entry & TRADITIONAL) != 0
            else:
                before = np.uint32(0)
        counts[0] = 0
        counts[LATN] += latin
        is_upper = (all_bits & UPPER) != 0 and (all_bits & NOT_UPPER) == 0
        may_compose = out_of_order or (all_bits & COMPOSES) != 0
        kinds[d] = (IS_UPPER if is_upper else 0) | (MAY_COMPOSE if may_compose else 0)
        scripts[d] = main_script(counts, simplified, traditional)
