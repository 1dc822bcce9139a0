"""The table of characters for `kernels.scripts`."""

import functools
import unicodedata

import numpy as np

from corpusmill.kernels import scripts as kernels
from corpusmill.kernels.scripts import (
    CLASS_SHIFT,
    COMPOSES,
    NOT_UPPER,
    SIMPLIFIED,
    TRADITIONAL,
    UPPER,
)
from corpusmill.mill.read.unicode_tables import SIZE, kept_table, points_of, scalars, text_of

SCRIPTS = (
    "Zyyy", "Jpan", "Hans", "Hant", "Hani", "Hira", "Kana", "Latn", "Cyrl", "Grek", "Arab", "Hebr",
    "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu", "Knda", "Mlym", "Sinh", "Thai", "Laoo",
    "Tibt", "Mymr", "Geor", "Hang", "Ethi", "Khmr", "Mong", "Armn", "Syrc", "Thaa", "Nkoo", "Cher",
    "Cans", "Tfng", "Copt", "Goth", "Java", "Bali", "Sund", "Bopo", "Yiii", "Vaii", "Adlm", "Olck",
    "Mtei", "Cakm", "Tglg", "Bugi", "Talu", "Limb", "Lisu", "Saur", "Kali", "Rjng", "Cham", "Lana",
    "Zzzz",
)  # fmt: skip
"""ISO 15924 codes. Zyyy: no letter. Zzzz: letters of a script that is not listed."""


def _script_of_letters(text: str) -> np.ndarray:
    """Return uint32 (0x110000,): index in SCRIPTS for letters, 0 for other characters."""
    import regex

    found = np.zeros(SIZE, np.uint32)
    found[points_of("".join(regex.findall(r"\p{L}", text)))] = SCRIPTS.index("Zzzz")
    for place, script in enumerate(SCRIPTS):
        if script not in ("Zyyy", "Jpan", "Hans", "Hant", "Zzzz"):
            of_script = regex.findall(rf"(?V1)[\p{{Script={script}}}&&\p{{L}}]", text)
            found[points_of("".join(of_script))] = place
    # Modifier letters without a script say as little about the script as digits do.
    common = regex.findall(r"(?V1)[\p{Script=Common}&&\p{L}]", text)
    found[points_of("".join(common))] = 0
    return found


def _second_parts() -> set[int]:
    """Return the characters that can compose with the one before them."""
    pairs = map(str.split, map(unicodedata.decomposition, text_of(scalars())))
    jamo = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}  # composed by rule, not by table
    return jamo | {int(pair[1], 16) for pair in pairs if len(pair) == 2 and pair[0][0] != "<"}


def _has(codec: str, character: str) -> bool:
    try:
        character.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


def built_table() -> np.ndarray:
    """Build the table of `script_table`."""
    characters = text_of(scalars())
    table = _script_of_letters(characters)
    hani = SCRIPTS.index("Hani")
    seconds = _second_parts()
    for character in characters:
        point = ord(character)
        flags = unicodedata.combining(character) << CLASS_SHIFT
        if character.isupper():
            flags |= UPPER
        if character.islower() or unicodedata.category(character) == "Lt":
            flags |= NOT_UPPER
        if point in seconds or not unicodedata.is_normalized("NFC", character):
            flags |= COMPOSES
        if table[point] == hani:
            # Character sets of mainland China, 1980, and Taiwan, 1984.
            ways = _has("gb2312", character), _has("big5", character)
            flags |= {(True, False): SIMPLIFIED, (False, True): TRADITIONAL}.get(ways, 0)
        if flags:
            table[point] |= np.uint32(flags)
    return table


@functools.cache
def script_table() -> np.ndarray:
    """Return uint32 (0x110000,): the script of a letter and flags of `kernels.scripts`."""
    return kept_table("scripts", built_table, __file__, kernels.__file__)
