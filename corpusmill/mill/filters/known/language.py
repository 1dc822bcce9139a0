"""Language and script, identified by a model."""

from corpusmill.mill.filters.declaration import (
    Filter,
    Value,
    below,
    outside,
    several,
    share,
)


class Language(Filter):
    """Drops documents in languages other than those you keep, and documents whose language is
    uncertain. [Languages](languages.md) lists the codes and explains the scores."""

    fate = "language"
    settings = {
        "languages": several(None, "Codes of the languages to keep.", least=1),
        "min_score": share(None, "Minimum language_score."),
        "among": several([], "Codes from which the model chooses; empty: all known codes."),
    }
    measured_with = ("among",)
    values = {
        "language": Value(
            "text", "language code; zxx: no language (numbers, markup), und: unknown"
        ),
        "language_score": Value("float32", "probability of the language; 0 for und"),
        "script": Value(
            "text", "ISO 15924 code of the most frequent script; Zyyy: text without letters"
        ),
    }
    limits = (outside("language", "languages"), below("language_score", "min_score"))

    def measure(self, texts):
        from corpusmill.mill.filters.languages.codes import LANGUAGES
        from corpusmill.mill.filters.languages.identification import identify
        from corpusmill.mill.filters.languages.script_table import SCRIPTS

        found = identify(texts, self.among or None)
        return {
            "language": [LANGUAGES[place] for place in found.places.tolist()],
            "language_score": found.scores,
            "script": [SCRIPTS[place] for place in found.scripts.tolist()],
        }

    def faults(self):
        from corpusmill.mill.filters.languages.codes import MODEL_LANGUAGES, code_faults

        among = self.among or MODEL_LANGUAGES
        for fault in code_faults(self.among, MODEL_LANGUAGES):
            yield f"among: {fault}"
        for fault in code_faults(self.languages or []):
            yield f"languages: {fault}"
        for code in self.languages or []:
            if code in MODEL_LANGUAGES and code not in among:
                yield (
                    f"the setting languages has {code}, but the setting among does not. So no "
                    "document gets this code. Add it to among."
                )
