"""Tables of spaCy's English tokenizer: the characters that it splits at, and listed words that it
splits or keeps whole. Facts of spaCy 3.8 in our own form.

A listed word is written as its pieces with a space between: `ca n't` for can't.
"""

import itertools
import string
import unicodedata
from collections.abc import Iterator

PUNCTUATION = "…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪"
QUOTES = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉\u2329\u232a⟦⟧"
CURRENCIES = "$£€¥฿₽﷼₴" + "".join(map(chr, range(0x20A0, 0x20C0)))
"""Currency signs of one character. US, C and A before a dollar sign are part of the sign."""

CUT_IN_FRONT = "§%=—–"
CUT_BEHIND = "—–"
CUT_INSIDE = ".…+-*^,:<>=/–—~"

WRITTEN_UNITS = (
    "km km² km³ m m² m³ dm dm² dm³ cm cm² cm³ mm mm² mm³ ha µm nm yd in ft kg g mg µg t lb oz m/s "
    "km/h kmh mph hPa Pa mbar mb MB kb KB gb GB tb TB T G M K % км км² км³ м м² м³ дм дм² дм³ см "
    "см² см³ мм мм² мм³ нм кг г мг м/с км/ч кПа Па мбар Кб КБ кб Мб МБ мб Гб ГБ гб Тб ТБ "
    "тбكم كم² كم³ م م² م³ سم سم² سم³ مم مم² مم³ كم غرام جرام جم كغ ملغ كوب اكواب"
)
UNITS = frozenset(WRITTEN_UNITS.split())
"""Units, split off behind a digit."""

PLAIN_LETTERS = "A-Z a-z À-Ö Ø-ö ø-ƿ Ǆ-ʯ Α-Ω α-ω ά έ ί ό ώ ή ύ Ά Έ Ί Ό Ώ Ή Ύ А-я ё Ё"
OTHER_LETTERS = (
    "ә ө ү җ ң һ Ә Ө Ү Җ Ң Һ і ї є ґ І Ї Є Ґ ѓ ѕ ј љ њ ќ ѐ ѝ Ѓ Ѕ Ј Љ Њ Ќ Ѐ Ѝ Ａ-Ｚ ａ-ｚ Ḁ-ỿ "
    "ᴀ-ᴥ ᵫ-ᵷ ᵹ-ᶚ Ⱡ-ⱻ Ȿ-Ɀ Ꜣ-ꝯ ꝱ-ꞇ Ꞌ-ꞎ Ꞑ-ꞹ ꟺ ꬰ-ꭚ ꭠ-ꭤ"
)
CASELESS = (
    "\u1200-\u137f \u0980-\u09ff \u0591-\u05f4 \ufb1d-\ufb4f \u0620-\u064a \u066e-\u06d5 "
    "\u06e5-\u06ff \u0750-\u077f \u08a0-\u08bd \ufb50-\ufbb1 \ufbd3-\ufd3d \ufd50-\ufdc7 "
    "\ufdf0-\ufdfb \ufe70-\ufefc \U0001ee00-\U0001eebb \u0d80-\u0dff \u0900-\u097f \u0c80-\u0cff "
    "\u0b80-\u0bff \u0c00-\u0c7f \uac00-\ud7af \u1100-\u11ff \u3040-\u309f \u30a0-\u30ff "
    "\u4e00-\u9fff \u3400-\u4dbf \U00020000-\U0002a6df \U0002a700-\U0002ebef \u2e80-\u2fdf "
    "\u2ff0-\u303f \u31c0-\u31ef \u3200-\u33ff \uf900-\ufaff \ufe30-\ufe4f \U0001f200-\U0001f2ff "
    "\U0002f800-\U0002fa1f"
)
"""Scripts whose letters count as both lower and upper case, marks in their blocks included."""


def in_ranges(ranges: str) -> set[str]:
    found: set[str] = set()
    for one in ranges.split():
        found |= set(map(chr, range(ord(one[0]), ord(one[-1]) + 1)))
    return found


def letters() -> tuple[set[str], set[str], set[str]]:
    """Return all letters, lower-case letters and upper-case letters. Some are both, some
    neither."""
    cased = in_ranges(PLAIN_LETTERS) | in_ranges(OTHER_LETTERS)
    both = in_ranges(CASELESS)
    small, capital = (set(filter(test, cased)) for test in (str.islower, str.isupper))
    return cased | both, small | both, capital | both


def icons() -> set[str]:
    """Return all characters of Unicode's category So, such as pictographs."""
    return {c for c in map(chr, range(0x110000)) if unicodedata.category(c) == "So"}


TITLES = (
    "Adm. Bros. co. Co. Corp. D.C. Dr. e.g. E.g. E.G. Gen. Gov. i.e. I.e. I.E. Inc. Jr. Ltd. Md. "
    "Messrs. Mo. Mont. Mr. Mrs. Ms. p.m. a.m. Ph.D. Prof. Rep. Rev. Sen. St. vs. v.s. Mt. 'd"
)
PLACES_AND_MONTHS = (
    "Ak. Ala. Apr. Ariz. Ark. Aug. Calif. Colo. Conn. Dec. Del. Feb. Fla. Ga. Ia. Id. Ill. Ind. "
    "Jan. Jul. Jun. Kan. Kans. Ky. La. Mar. Mass. Mich. Minn. Miss. N.C. N.D. N.H. N.J. N.M. N.Y. "
    "Neb. Nebr. Nev. Nov. Oct. Okla. Ore. Pa. S.C. Sep. Sept. Tenn. Va. Wash. Wis."
)
WHOLE = (
    "' '' \\\") <space> C++ \\t \\n — and/or w/o 's 'S ‘s ‘S 're 'cause 'Cause 'cos 'Cos 'coz 'Coz "
    "'cuz 'Cuz 'bout ma'am Ma'am o'clock O'clock em 'em ll 'll nuff 'nuff ä. ö. ü."
)
EMOTICONS = (
    ":) :-) :)) :-)) :))) :-))) (: (-: =) (= :] :-] [: [-: [= =] :o) (o: :} :-} 8) 8-) (-8 ;) ;-) "
    "(; (-; :( :-( :(( :-(( :((( :-((( ): )-: =( =[ >:( :') :'-) :'( :'-( :/ :-/ =/ =| :| :-| ]= "
    ":1 :P :-P :p :-p :O :-O :o :-o :0 :-0 :() >:o :* :-* :3 :-3 =3 :> :-> :X :-X :x :-x :D :-D ;D "
    ";-D =D xD XD xDD XDD 8D 8-D ^_^ ^__^ ^___^ >.< >.> <.< ._. ;_; -_- -__- v.v V.V v_v V_V o_o "
    "o_O O_o O_O 0_o o_0 0_0 o.O O.o O.O o.o 0.0 o.0 0.o @_@ <3 <33 <333 </3 (^_^) (-_-) (._.) "
    "(>_<) (*_*) (¬_¬) ಠ_ಠ ಠ︵ಠ (ಠ_ಠ) ¯\\(ツ)/¯ (╯°□°）╯︵┻━┻ ><(((*>"
)
WITHOUT_G = "doin goin nothin nuthin ol somethin lovin havin"
PARTED = (
    "y' all|y all|how 'd 'y|How 'd 'y|not 've|not ve|Not 've|Not ve|can not|Can not|gon na|Gon na|"
    "got ta|Got ta|let 's|Let 's|c'm on|C'm on"
)
# Words of contractions, by the endings that are split off.
PRONOUNS = "i you he she it we they"
ASKING = "who what when where why how there that this these those"
DENIED = "ca could do does did had may might must need ought sha should wo would"
DENIED_ONLY = "ai are is was were have has dare"
WISHED = "could might must should would"
NO_CONTRACTIONS = {
    "Ill", "ill", "Its", "its", "Hell", "hell", "Shell", "shell", "Shed", "shed", "were", "Were",
    "Well", "well", "Whore", "whore",
}  # fmt: skip


def with_title(words: str) -> Iterator[str]:
    for word in words.split():
        yield from (word, word.title())


def with_endings(words: str, *endings: str) -> Iterator[str]:
    """Yield each word, in lower and title case, with each ending, with and without apostrophe."""
    for word, ending in itertools.product(with_title(words), endings):
        yield f"{word} {ending}"
        yield f"{word} {ending.replace(chr(39), '')}"


def contractions() -> Iterator[str]:
    yield from with_endings("i", "'m", "'m a")
    yield from with_endings(PRONOUNS, "'ll", "'ll 've", "'d", "'d 've")
    yield from with_endings("i you we they", "'ve")
    yield from with_endings("you we they", "'re")
    yield from with_endings("he she it", "'s")
    yield from with_endings(ASKING, "'ll", "'ll 've", "'d", "'d 've")
    yield from with_endings(" ".join(ASKING.split()[:9]), "'s")
    yield from with_endings(" ".join([*ASKING.split()[:7], "these", "those"]), "'re", "'ve")
    yield from with_endings(DENIED, "n't", "n't 've")
    yield from with_endings(DENIED_ONLY, "n't")
    yield from with_endings(WISHED, "'ve")


def of_lists() -> Iterator[str]:
    yield from (one for one in contractions() if one.replace(" ", "") not in NO_CONTRACTIONS)
    yield from PARTED.split("|")
    for text in (TITLES, PLACES_AND_MONTHS, WHOLE, EMOTICONS):
        yield from text.split()
    for word in with_title(WITHOUT_G):
        yield from (word, f"{word}'")
    yield from (f"{letter}." for letter in string.ascii_lowercase)
    yield from (f"° {letter} ." for letter in "cfkCFK")
    for hour, half in itertools.product(range(1, 13), ("a.m.", "am", "p.m.", "pm")):
        yield f"{hour} {half}"


def listed_words() -> dict[str, list[str]]:
    """Return word -> its pieces; one piece if it stays whole."""
    found = {}
    for entry in of_lists():
        for pieces in (entry.split(), entry.replace("'", "’").split()):
            found["".join(pieces)] = pieces
    return found
