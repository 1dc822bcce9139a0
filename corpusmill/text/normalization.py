"""What `normalize` does to a text, mode by mode."""

import unicodedata
from collections.abc import Callable


def nfc(text: str) -> str:
    """Canonical composition, and nothing else."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def unchanged(text: str) -> str:
    return text


def normalizer(mode: str) -> Callable[[str], str]:
    """The function of a mode: nfc, ftfy (what the SlimPajama scripts do) or none."""
    if mode == "ftfy":
        import ftfy

        config = ftfy.TextFixerConfig(normalization="NFC")
        return lambda text: ftfy.fix_text(text, config)
    return {"nfc": nfc, "none": unchanged}[mode]
