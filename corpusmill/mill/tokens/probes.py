"""Texts that are likely to reveal differences between tokenizers, engines and machines."""

import unicodedata
from collections.abc import Iterable

PROBES = [
    "",
    " ",
    "\n\n \t x\r\n",
    "Hello, world! It's 2026; they'll pay $1,234.56 (~3e-4).",
    "def f(x):\n    return x ** 2  # square\n\n\n\tif x: pass",
    "<|endoftext|> <|im_end|> <|im_start|> <s> </s> [CLS] <think>text</think>",
    "Größe, naïve café, coöperate — “quotes” … ½ ﬁ Ǆ",
    unicodedata.normalize("NFD", "Größe, naïve café; Việt Nam; がぎぐ; 한국어"),
    "Ελληνικά: ΑΣ ΣΑΣ. Русский текст, ещё. עברית العربية हिन्दी ไทย",
    "漢字かな交じり文、全角　スペース。中文没有空格的句子。한국어 문장입니다.",
    "👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301\u200b\u00a0\ufeff\u2028 \U0001f600\U00020000 \x00\x07",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 0000000000000000000000000 ////",
]

PLAIN = ["Hello, world!", "The miller opened the sluice.", "x = 1"]
"""Texts for which every tokenizer of text has ids."""

_FRAME = "a*b *  c\n*\n**\t*\r\n* Word*"


def framed(token: str) -> str:
    """Return a token beside letters, spaces, line breaks and itself."""
    return _FRAME.replace("*", token)


def refuse_useless(name: str, ids: Iterable[list[int]], unknown: Iterable[int]) -> None:
    """Raise ValueError if the ids of PLAIN show that a tokenizer is not for text.

    Refused: no ids for one of the texts, or only unknown ids for all of them.
    """
    of_text = dict(zip(PLAIN, ids, strict=True))
    empty = [text for text, found in of_text.items() if not found]
    if not empty and any(set(found) - set(unknown) for found in of_text.values()):
        return
    what = f"has no ids for {empty[0]!r}" if empty else f"has only unknown ids for {PLAIN}"
    raise ValueError(
        f"tokenizer.source: the tokenizer {name} {what}, so texts would be lost. Give a folder "
        "with the whole tokenizer (tokenizer.json), another tokenizer, or train."
    )
