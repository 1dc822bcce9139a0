"""Count what FineWeb's rules need of the lines of a document."""

from corpusmill.kernels.clean import longest_of
from corpusmill.kernels.jit import kernel
from corpusmill.kernels.lines import ends_with_one_of
from corpusmill.kernels.repeats import repeats, room_for_elements, slots_for


@kernel
def fineweb_quality(data, first, lines, marks, short, counts):
    """Count lines and characters by property. Blank lines do not count as lines.

    counts: int64 (documents, 6), written: lines, lines that end in one of `marks`, lines of at most
    `short` characters, characters of repeated lines except first copies, all characters but
    newlines, newlines. first, lines: see kernels.lines. marks: uint32, ascending.
    """
    _, ends, chars, line_hashes, blank = lines
    hashes, sizes, slots = room_for_elements(longest_of(first))
    for d in range(first.size - 1):
        solid = ended = shorter = total = 0
        for k in range(first[d], first[d + 1]):
            total += chars[k]
            if not blank[k]:
                ended += ends_with_one_of(data, ends[k], marks)
                shorter += chars[k] <= short
                hashes[solid], sizes[solid] = line_hashes[k], chars[k]
                solid += 1
        counts[d, 0], counts[d, 1], counts[d, 2] = solid, ended, shorter
        _, counts[d, 3] = repeats(hashes[:solid], sizes[:solid], slots_for(solid, slots))
        counts[d, 4], counts[d, 5] = total, first[d + 1] - first[d] - 1
