"""Sketches of 128 permutations over character 13-grams of the cleaned text, from texts in memory.

The cleaning for the peers follows the SlimPajama scripts.
"""

import re
import string

from same_work import Work, digest_of, main, size_of, texts_of

PERMUTATIONS, WIDTH, SEED = 128, 13, 1
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def shingles(text: str) -> list[str]:
    cleaned = text.lower().translate(WITHOUT_PUNCTUATION)
    cleaned = re.sub(r"\s+", " ", cleaned.strip())
    return [cleaned[i : i + WIDTH] for i in range(len(cleaned) - WIDTH + 1)]


def tell(table) -> dict:
    """Summarize sketches. table: (documents, permutations) of an unsigned type with 32-bit
    values."""
    import numpy as np

    found = np.ascontiguousarray(table).astype("<u4")
    return {"output": digest_of(found), "counts": {"signatures": len(found)}}


def corpusmill(scheme: str):
    def prepare(given) -> Work:
        from corpusmill.mill.dedup.minhash import MinHasher
        from corpusmill.mill.read.text_column import TextColumn, string_array

        texts = texts_of(given.corpus, int(given.bytes))
        hasher = MinHasher(scheme, PERMUTATIONS, WIDTH, SEED)

        def run():
            return hasher.sign(TextColumn.of(string_array([text.encode() for text in texts])))

        return Work(run, size_of(texts), tell)

    return prepare


def datasketch(scheme: str, batch: bool):
    def prepare(given) -> Work:
        import numpy as np
        from datasketch import MinHash

        texts = texts_of(given.corpus, int(given.bytes))

        def sketch(text: str):
            minhash = MinHash(PERMUTATIONS, SEED, scheme=scheme)
            encoded = [shingle.encode() for shingle in shingles(text)]
            if batch and encoded:
                minhash.update_batch(encoded)
            elif not batch:
                for shingle in encoded:
                    minhash.update(shingle)
            return minhash.hashvalues

        return Work(lambda: np.array([sketch(text) for text in texts]), size_of(texts), tell)

    return prepare


def rensa(given) -> Work:
    import numpy as np
    from rensa import RMinHash

    texts = texts_of(given.corpus, int(given.bytes))

    def run():
        # A few documents at a time: the shingles of a corpus as Python strings do not fit in
        # memory.
        found = []
        for start in range(0, len(texts), 64):
            sets = [shingles(text) for text in texts[start : start + 64]]
            sketches = RMinHash.from_token_sets(sets, PERMUTATIONS, SEED)
            found += [sketch.digest() for sketch in sketches]
        return found

    return Work(run, size_of(texts), lambda found: tell(np.array(found)))


def rensa_given_shingles(given) -> Work:
    """Sketch shingles that were made before the timing."""
    import numpy as np
    from rensa import RMinHash

    texts = texts_of(given.corpus, int(given.bytes))
    sets = [shingles(text) for text in texts]

    def run():
        return [s.digest() for s in RMinHash.from_token_sets(sets, PERMUTATIONS, SEED)]

    return Work(run, size_of(texts), lambda found: tell(np.array(found)))


if __name__ == "__main__":
    main(
        {
            "corpusmill_affine32": corpusmill("affine32"),
            "corpusmill_legacy": corpusmill("legacy"),
            "datasketch_update": datasketch("legacy", batch=False),
            "datasketch_update_batch": datasketch("legacy", batch=True),
            "datasketch_affine32": datasketch("affine32", batch=True),
            "rensa": rensa,
            "rensa_given_shingles": rensa_given_shingles,
        }
    )
