"""The language and the script of documents, by a model."""

from corpusmill.mill.filters.declaration import (
    Filter,
    Value,
    below,
    outside,
    several,
    share,
)


class Language(Filter):
    """Documents in a language that is not among those kept, or whose language is not sure enough.

    What the model knows, and how sure scores are: [languages.md](languages.md).
    """

    fate = "language"
    settings = {
        "languages": several(None, "Languages that are kept, by their codes.", least=1),
        "min_score": share(None, "Least probability of the language."),
        "among": several(
            [], "Languages that a document can be in; none named: all that the model knows."
        ),
    }
    measured_with = ("among",)
    values = {
        "language": Value("text", "code; zxx: numbers, markup or code, und: nothing to say"),
        "language_score": Value("float32", "how probable the language is, 0 for und"),
        "script": Value("text", "ISO 15924 code of the script of most letters; Zyyy: no letter"),
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
                yield f"languages has {code}, which no document can be in: among does not have it."
