"""Tables of text, for terminals."""

GAP = "  "


def aligned(lines: list[list[str]]) -> str:
    """Align columns of text: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        GAP.join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
        for line in lines
    )


def in_blocks(lines: list[list[str]], width: int) -> str:
    """Align columns within `width` characters. Columns that do not fit follow in blocks below, each
    with the first column again."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    blocks: list[list[int]] = [[]]
    room = width - widths[0]
    for place, its in enumerate(widths[1:], 1):
        room -= len(GAP) + its
        if room < 0 and blocks[-1]:
            blocks.append([])
            room = width - widths[0] - len(GAP) - its
        blocks[-1].append(place)
    return "\n\n".join(
        aligned([[line[0], *(line[place] for place in block)] for line in lines])
        for block in blocks
    )
