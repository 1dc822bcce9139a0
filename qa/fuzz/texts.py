"""Texts that are hard to clean, to compare or to tokenize."""

import random
import string
from fractions import Fraction

import naive

SYLLABLES = [c + v for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "ai", "or")]
CHINESE = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主"
KANA = "あいうえおかきくけこさしすせそたちつてとなにぬねのはまアイウエオカキガギグゲゴ"
THAI = "กขคงจฉชซญดตถทธนบปผพฟภมยรลวศสหอะาิีึืุูเแโใไ่้็์ๆฯ"

ODD = {
    "nfc and nfd": "é\u00e9 e\u0301 Å\u00c5 A\u030a \u212b ñ n\u0303 ệ e\u0323\u0302 e\u0302\u0323",
    "nfkc": "ﬁnance ﬀ ﬆ ① ² ½ ㎏ ｆｕｌｌ　ｗｉｄｔｈ ｶﾀｶﾅ ﷺ ™ ⅷ",
    "singletons": "\u212a \u2126 \u212b \u1f71 \u2000 \u2001 \u0340 \u0344 \ufa1b \U0002f800",
    "no composition": "\u0958 \u0959 \u2adc \ufb1d \U0001d15e",
    "hangul": "한글 \u1112\u1161\u11ab\u1100\u1173\u11af 각 \u1100\u1161\u11a8 \uac00\u11a8 \u3131",
    "marks out of order": "q\u0307\u0323 q\u0323\u0307 a\u0315\u0300\u05aeb \u0f71\u0f72 \u0344",
    "lone marks": "\u0301\u0308 \u093e \u20dd \u0345",
    "many marks": "Z" + "\u0300\u0316\u0301\u0317" * 20,
    "turkish": "İstanbul İ I\u0307 ı i\u0307 DİYARBAKIR",
    "sigmas": "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ ΑΣ. ΑΣ\u0301Α Σ\u00adΣ ΑΣ’Α ΌΣΟΣ",
    "sharp s": "Straße STRASSE ẞ ß groß GROẞ",
    "ligatures": "ŉ ǰ ΐ ﬃ Œuvre æ ĳ ǆ ǅ Ǆ",
    "emoji": "👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 🇩🇪🇫🇷 ☺️ ☺ 1️⃣ 🧑‍🚀",
    "private use": "\ue000\uf8ff \U000f0000 \U0010fffd",
    "noncharacters": "\ufffe \uffff \ufdd0 \U0001ffff \U0010ffff",
    "replacement": "\ufffd\ufffd caf\ufffd",
    "mojibake": "cafÃ© â€œquotedâ€\x9d schÃ¶n Ã  l’heure",
    "ftfy": "“curly” ‘quotes’ &lt;b&gt; &amp;amp; \x1b[31mred\x1b[0m ｗｉｄｅ ﬂat \u2028 \r\n",
    "control": "a\x00b\x01c\x07d\x08e\x7ff\x80g\x9fh",
    "separators": "one\u2028two\u2029three\x85four\x1cfive\x1dsix\x1eseven\x1feight",
    "line ends": "one\r\ntwo\rthree\n\rfour\x0bfive\x0csix\n\n\n",
    "spaces": "a\u00a0b\u1680c\u2002d\u2009e\u202ff\u205fg\u3000h\u200bi\u2060j\ufeffk\u180el",
    "directions": "\u202eleft\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u200f \u2066x\u2069",
    "byte order mark": "\ufeffstarts with a mark",
    "special tokens": "<|endoftext|> <think> </think> <|im_start|>user [UNK] [SEP] <unk> </s> ##",
    "spaced marks": "▁ ▁▁the Ġ Ċ <0x0A> <0xE9>",
    "json": '"quoted" \\ \\u0041 {"text": "x"} \\n / \\/ \u007f',
    "digits": "1,234.50 ١٢٣ ४५६ ⅓ 10⁻⁹ 0x1F",
    "case pairs": "ǅungla ꭰ Ꭰ ꮿ 𐐀𐐨 Ⓐ ⓐ K k \u1e9e ʼN",
}  # fmt: skip
ONLY_PUNCTUATION = ["!!!", "...---...", string.punctuation, "?" * 300, "- - -", "«»…。", "\\\\\\"]
ONLY_SPACE = [" ", "\n", "\t \r\n", "\u00a0\u3000", "\x85", "\x1c", "\u2028", " " * 300,
              "\ufeff", "\u200b"]  # fmt: skip
ENDS = [". ", "! ", "? ", '." ', "!) ", "?» ", ".\n", "... ", ".' ", "。", "！",
        "？", "。」", "！』", "？） ", ".[1] "]  # fmt: skip


def word(random: random.Random) -> str:
    return "".join(random.choice(SYLLABLES) for _ in range(random.randint(1, 3)))


def prose(random: random.Random, chars: int) -> str:
    """Lower-case words with single spaces, as cleaning leaves them; just so many characters."""
    text = word(random)
    while len(text) < chars:
        text += " " + word(random)
    text = text[:chars]
    return text[:-1] + "x" if text.endswith(" ") else text


def sentence(random: random.Random) -> str:
    text = prose(random, random.randint(10, 70))
    return text[0].upper() + text[1:] + random.choice(ENDS)


def unspaced(random: random.Random, chars: int) -> str:
    """Chinese, Japanese or Thai: no spaces, now and then a full stop."""
    script = random.choice([CHINESE, KANA, THAI, CHINESE + KANA])
    return "".join(
        "。" if script != THAI and random.random() < 0.05 else random.choice(script)
        for _ in range(chars)
    )


def odd(random: random.Random, chars: int) -> str:
    """Pieces of ODD among prose."""
    pieces = [random.choice(list(ODD.values())) for _ in range(random.randint(1, 4))]
    rest = max(0, chars - sum(map(len, pieces)))
    first, last = prose(random, rest + 1), prose(random, rest)
    return random.choice(["", " ", "\n"]).join(
        random.choice([[*pieces, last], [first, *pieces], pieces])
    )


def tiny(random: random.Random) -> str:
    """0 to 15 characters once cleaned, or none but punctuation or white space."""
    if random.random() < 0.3:
        return random.choice([*ONLY_PUNCTUATION, *ONLY_SPACE, ""])
    text = prose(random, random.randint(1, 15))
    dressed = [text, text.upper(), f" {text} ", text.replace("a", ".a,"), text + "!", f"\n{text}\t"]
    return random.choice(dressed)


def around(random: random.Random, chars: int) -> str:
    """A cleaned text of just below, just as many or just above `chars` characters."""
    text = prose(random, max(1, chars + random.choice([-2, -1, 0, 0, 1, 2])))
    return random.choice([text, text, text + " . ", text.upper(), text.replace(" ", " - ")])


def long_line(random: random.Random) -> str:
    """One line of 20 to 60 kB that says little, or much."""
    chars = random.randint(20_000, 60_000)
    if random.random() < 0.5:
        return (prose(random, random.randint(1, 40)) + " ") * (chars // 40)
    return prose(random, chars)


def near(random: random.Random, threshold: float, width: int) -> list[str]:
    """A text and three that are similar to it by just less, just as much and just more than the
    threshold, so far as a threshold of few digits and shingles that all differ let it be."""
    share = Fraction(str(threshold)).limit_denominator(1000)
    times = max(1, random.choice([60, 200, 500]) // share.numerator)
    shingles, more = share.numerator * times, (share.denominator - share.numerator) * times
    tail = prose(random, more + 1)
    base = prose(random, shingles + width - 1)
    return [base] + [base + tail[: more + k] for k in (1, 0, -1) if more + k > 0]


def similarity(one: str, other: str, width: int) -> float:
    """As exactly as a fraction of two counts is."""
    return naive.jaccard(naive.shingles(one, width), naive.shingles(other, width))


def chain(random: random.Random, threshold: float, length: int) -> list[str]:
    """Texts of which each is like the next one and the ends are not alike: a window that slides."""
    chars = random.choice([120, 400])
    step = max(1, int(chars * (1 - threshold) / (1 + threshold) * random.choice([0.6, 0.9])))
    whole = prose(random, chars + step * length)
    return [whole[step * k : step * k + chars] for k in range(length)]


def family(random: random.Random, size: int) -> list[str]:
    """A form that is filled in differently: a few words of many."""
    words = prose(random, random.choice([150, 300, 700])).split()
    gaps = random.sample(range(len(words)), min(len(words), random.randint(1, 4)))
    members = []
    for _ in range(size):
        for gap in gaps:
            words[gap] = word(random)
        members.append(" ".join(words))
    return members


def variant(random: random.Random, text: str) -> str:
    """The same once cleaned, or nearly, in other bytes."""
    changes = [str.upper, str.title, lambda t: t + ".", lambda t: "  " + t.replace(" ", "\n"),
               lambda t: t.replace("a", "á"), lambda t: t.replace("a", "a\u0301"),
               lambda t: t.replace(" ", ", "), lambda t: t[: len(t) * 9 // 10],
               lambda t: t]  # fmt: skip
    return random.choice(changes)(text)


def piece(random: random.Random, unit_chars: int) -> str:
    """A line or a few sentences, near the least length of a span that is cut."""
    return around(random, unit_chars) if random.random() < 0.5 else "".join(
        sentence(random) for _ in range(random.randint(1, 4))
    )  # fmt: skip


def patchwork(random: random.Random, common: list[str]) -> str:
    """Lines, paragraphs and sentences, of which some stand in other texts too."""
    separators = ["\n", "\n", "\n\n", "\n \t\n", " ", "\r\n", "\r\n\r\n", "\n\n\n", "\x0c", "\x85"]
    text = random.choice(["", "", "\n\n", "  "])
    for _ in range(random.randint(1, 7)):
        new = random.random() < 0.4
        part = sentence(random) if new else random.choice(common)
        if random.random() < 0.2:
            part = random.choice([part.upper(), f"  {part} ", part.replace(" ", "  ")])
        text += part + random.choice(separators)
    return text if random.random() < 0.4 else text.rstrip()
