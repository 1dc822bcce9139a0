"""Compares packages that detect the language of a text, on real documents of known language.

    CORPUSMILL_DATA=FOLDER python benchmarks/languages.py [--per-language 200] [--only py3langid]

Needs documents whose record has `meta.language`: FOLDER/*/*/*.jsonl.zst. Each package has one
process on one core. The common environment is made from peers/languages.txt at the first use.
Prints tables in Markdown and writes every answer to --answers.
"""

import argparse
import hashlib
import io
import json
import os
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the checkout, as rules/common.smk does

import zstandard

from benchmarks.measuring import CACHE, child
from benchmarks.peers import SCRIPTS, python_of

sys.path.insert(1, str(SCRIPTS))

from identifying import PACKAGES

LONGEST = 20_000
"""Most characters of a text. Longer documents, such as books, are cut from their middle."""
SLICES = 3
"""Texts cut from a longer document, for enough texts of each language."""
CUTS = (200, 100, 50, 20)
MIXED_CHARS = 1000

SAME = {"zht": "zh", "cmn": "zh", "zho": "zh", "eng": "en", "deu": "de", "spa": "es", "fra": "fr",
        "hin": "hi", "hun": "hu", "jpn": "ja", "kor": "ko", "pol": "pl", "por": "pt", "ron": "ro",
        "rus": "ru", "slv": "sl", "tur": "tr", "ukr": "uk"}  # fmt: skip
"""ISO 639-3 codes of some packages -> languages of the corpora."""

ODD = {
    "nothing": "", "a space": " ", "digits": "12345", "ok": "ok", "Hi!": "Hi!", "emoji": "😀😀",
    "a link": "https://example.com/a/b?c=1", "a hash": "d41d8cd98f00b204e9800998ecf8427e",
    "Python": "def f(x):\n    return [y for y in x if y is not None]\n",
    "C": "int main(void) { for (int i = 0; i < 10; i++) printf(\"%d\\n\", i); return 0; }",
    "JSON": '{"id": 17, "values": [1, 2, 3], "ok": true}',
    "a table of numbers": "\n".join(f"{n}\t{n * n}\t{n / 7:.3f}" for n in range(40)),
    "a TeX formula": r"\[ \int_0^1 x^2 \, dx = \frac{1}{3} \]",
}  # fmt: skip


ENGLISH = {"the", "and", "of", "to", "is", "you", "this", "that", "for", "with"}


class Text(NamedTuple):
    language: str
    text: str


def languages_of(code: str) -> str:
    """Normalize a code: `zh-TW` and `zho` become `zh`."""
    code = re.split(r"[-_]", code.lower())[0]
    return SAME.get(code, code)


def documents(data: Path) -> Iterator[Text]:
    for path in sorted(data.glob("*/*/*.jsonl.zst")):
        with open(path, "rb") as raw:
            reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
            for line in io.BufferedReader(reader):
                record = json.loads(line)
                if language := (record.get("meta") or {}).get("language"):
                    yield from slices(Text(languages_of(language), record["text"]))


def slices(document: Text) -> Iterator[Text]:
    text = document.text
    if len(text) <= LONGEST:
        yield document
        return
    for part in range(1, SLICES + 1):
        middle = len(text) * part // (SLICES + 1)
        yield Text(document.language, text[middle - LONGEST // 2 : middle + LONGEST // 2])


def is_left_in_english(document: Text) -> bool:
    """Find untranslated pages by words, without the compared packages."""
    words = re.findall(r"[a-z]+", cut(document.text, 400).lower())
    return document.language != "en" and sum(word in ENGLISH for word in words) > 3


def drawn(data: Path, number: int) -> dict[str, list[str]]:
    """Return language -> texts with the smallest digests: the same every time."""
    found = defaultdict(list)
    for document in documents(data):
        language, text = document
        if len(text) >= 500 and not is_left_in_english(document):
            digest = hashlib.sha256(text.encode()).digest()
            found[language].append((digest, text))
    return {
        language: [text for _, text in sorted(texts)[:number]]
        for language, texts in sorted(found.items())
    }


def cut(text: str, chars: int) -> str:
    """Return the beginning of the longest line, which in most documents is prose, not code or
    menus."""
    return max(text.splitlines(), key=len)[:chars]


def sample(data: Path, number: int) -> dict[str, list[Text]]:
    """Return kind -> texts: whole, cut, two languages in one, and odd ones."""
    texts = drawn(data, number)
    whole = [Text(language, text) for language in texts for text in texts[language]]
    kinds = {"whole": whole}
    for chars in CUTS:
        kinds[f"{chars}"] = [Text(language, cut(text, chars)) for language, text in whole]
    names = list(texts)
    kinds["mixed"] = [
        Text(f"{one} {other}", cut(a, MIXED_CHARS // 2) + "\n" + cut(b, MIXED_CHARS // 2))
        for place, one in enumerate(names)
        for other in [names[(place + 1) % len(names)]]
        for a, b in zip(texts[one][:25], texts[other][:25], strict=False)
    ]
    kinds["odd"] = [Text(name, text) for name, text in ODD.items()]
    return kinds


def asked(name: str, texts: Path, answers: Path, cache: Path) -> dict:
    python = python_of("" if name == "corpusmill" else "languages", cache)
    return child([python, SCRIPTS / "identifying.py", name, texts, answers])


def is_right(text: Text, answer: list) -> bool:
    return bool(answer[0]) and languages_of(answer[0]) in text.language.split()


def share_right(texts: list[Text], answers: list) -> float:
    """Return the share of correct answers among the texts processed."""
    return statistics.fmean(map(is_right, texts, answers))


def shown_share(texts: list[Text], answers: list) -> str:
    """Format a share: `97.9%`, followed by the number of texts if not all were processed."""
    got_to = "" if len(answers) == len(texts) else f" ({len(answers)})"
    return f"{share_right(texts, answers):.1%}{got_to}"


def row(cells: list) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def tables(kinds: dict[str, list[Text]], found: dict[str, dict], figures: dict) -> Iterator[str]:
    sized = ["whole", *map(str, CUTS)]
    yield row(["package", *sized, "documents/s", "MB/s", "100 chars/s", "MB", "load s"])
    yield row(["---", *["--:"] * (len(sized) + 5)])
    for name, given in found.items():
        right = [shown_share(kinds[kind], given[kind]) for kind in sized]
        speed = figures[name]
        rates = [f"{speed['whole']['documents/s']:,.0f}", f"{speed['whole']['MB/s']:.1f}",
                 f"{speed['100']['documents/s']:,.0f}"]  # fmt: skip
        yield row([name, *right, *rates, f"{speed['memory MB']:.0f}",
                   f"{speed['seconds to load']:.2f}"])  # fmt: skip
    names = list(dict.fromkeys(text.language for text in kinds["whole"]))
    for kind in sized:
        yield f"\n{kind}, per language\n"
        yield row(["package", *names])
        yield row(["---", *["--:"] * len(names)])
        for name, given in found.items():
            yield row([name, *per_language(kinds[kind], given[kind], names)])
    yield from mixed_and_odd(kinds, found)


def per_language(texts: list[Text], answers: list, names: list[str]) -> Iterator[str]:
    for language in names:
        right = [is_right(text, answer) for text, answer in zip(texts, answers, strict=False)
                 if text.language == language]  # fmt: skip
        yield f"{100 * statistics.fmean(right):.0f}" if right else "-"


def mixed_and_odd(kinds: dict[str, list[Text]], found: dict[str, dict]) -> Iterator[str]:
    yield "\nmixed: half of one language, half of another\n"
    yield row(["package", "one of the two", "score, 10 %", "median", "90 %", "median of 200 chars"])
    yield row(["---", *["--:"] * 5])
    for name, given in found.items():
        scores = [score for _, score in given["mixed"] if score is not None]
        alone = [score for _, score in given["200"] if score is not None]
        tenths = statistics.quantiles(scores, n=10)
        shown = [f"{score:.3f}" for score in (tenths[0], tenths[4], tenths[8])]
        right = share_right(kinds["mixed"], given["mixed"])
        yield row([name, f"{right:.1%}", *shown, f"{statistics.median(alone):.3f}"])
    yield "\nodd texts\n"
    yield row(["package", *ODD])
    yield row(["---", *["---"] * len(ODD)])
    for name, given in found.items():
        yield row([name, *(told(answer) for answer in given["odd"])])


def told(answer: list) -> str:
    code, score = answer
    return f"{code} {score:.2f}" if score is not None else str(code)


def main(given: argparse.Namespace) -> None:
    kinds = sample(given.data, given.per_language)
    given.answers.mkdir(parents=True, exist_ok=True)
    texts = given.answers / "sample.json"
    texts.write_text(json.dumps([[kind, [one.text for one in kinds[kind]]] for kind in kinds]))
    found, figures = {}, {}
    for name in given.only or PACKAGES:
        print(name, file=sys.stderr)
        answers = given.answers / f"{name}.json"
        figures[name] = asked(name, texts, answers, given.cache)
        found[name] = dict(json.loads(answers.read_text("utf-8")))
    sizes = [len(one.text.encode()) for one in kinds["whole"]]
    print(f"{len(sizes)} documents, {sum(sizes) / 1e6:.1f} MB, median {statistics.median(sizes)}\n")
    print("\n".join(tables(kinds, found, figures)))


if __name__ == "__main__":
    data = os.environ.get("CORPUSMILL_DATA")
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", type=Path, default=data, required=data is None,
                           help="default: CORPUSMILL_DATA")  # fmt: skip
    arguments.add_argument("--per-language", type=int, default=200, help="documents of each")
    arguments.add_argument("--only", action="append", choices=PACKAGES)
    arguments.add_argument("--answers", type=Path, default=CACHE / "languages")
    arguments.add_argument("--cache", type=Path, default=CACHE, help="environments")
    main(arguments.parse_args())
