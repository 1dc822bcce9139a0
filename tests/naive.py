"""Slow twins of the fast functions, written to be obviously right."""

import hashlib
import itertools
import math
import re
import string
from datetime import datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

import xxhash

MASK_64 = (1 << 64) - 1
WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def clean(text: str) -> str:
    return re.sub(r"\s+", " ", text.lower().translate(WITHOUT_PUNCTUATION).strip())


def runs(text: str, width: int) -> list[str]:
    return [text[i : i + width] for i in range(len(text) - width + 1)]


def rolling_hashes(text: str, width: int) -> list[int]:
    """A text shorter than `width` is one shingle, an empty one none."""
    shingles = [text] if 0 < len(text) < width else runs(text, width) if text else []
    hashes = []
    for shingle in shingles:
        value = 0
        for character in shingle:
            value = (value * 0x9E3779B97F4A7C15 + ord(character)) & MASK_64
        hashes.append(((value ^ value >> 32) * 0xD6E8FEB86659FD93 & MASK_64) >> 32)
    return hashes


def sha1_hashes(text: str, width: int) -> list[int]:
    digests = [hashlib.sha1(shingle.encode()).digest() for shingle in runs(text, width)]
    return [int.from_bytes(digest[:4], "little") for digest in digests]


def mixed(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK_64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK_64
    return x ^ x >> 31


def keyed_hash(id: int, seed: int, purpose: str) -> int:
    key = hashlib.sha256(f"corpusmill/{seed}/{purpose}".encode()).digest()
    first, second = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")
    return mixed((mixed(id ^ first) + second) & MASK_64)


def unit_hash(id: int, seed: int, purpose: str) -> float:
    return (keyed_hash(id, seed, purpose) >> 11) / 2**53


def shingles(text: str, width: int) -> set[str]:
    """Of the cleaned text. One shorter than `width` is one shingle, an empty one none."""
    cleaned = clean(text)
    return set(runs(cleaned, width)) or {cleaned} - {""}


def jaccard(one: set, other: set) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def places_of_runs(words: list[int], n: int) -> list[list[int]]:
    """Where each run of n words begins that stands more than once, by its first place."""
    places: dict[tuple[int, ...], list[int]] = {}
    for k in range(len(words) - n + 1):
        places.setdefault(tuple(words[k : k + n]), []).append(k)
    return [of_one for of_one in places.values() if len(of_one) > 1]


def equal_values(one: list[int], other: list[int]) -> int:
    return sum(a == b for a, b in zip(one, other, strict=True))


def identical_pairs(text_of: dict[int, object]) -> list[tuple[int, int]]:
    """The least document of every text with each other one of it."""
    first = {text: min(i for i in text_of if text_of[i] == text) for text in text_of.values()}
    return sorted((first[text], i) for i, text in text_of.items() if i != first[text])


def similar_pairs(
    text_of: dict[int, object], sketches: dict, bands: int, rows: int, least: int
) -> list[tuple[int, int, int]]:
    """Of each text the least document; pairs that share a band, and their equal values."""
    first = sorted(set(text_of) - {other for _, other in identical_pairs(text_of)})
    return [
        (a, b, equal_values(sketches[text_of[a]], sketches[text_of[b]]))
        for a, b in itertools.combinations(first, 2)
        if shares_band(sketches[text_of[a]], sketches[text_of[b]], bands, rows)
        and equal_values(sketches[text_of[a]], sketches[text_of[b]]) >= least
    ]


def kept_winners(best_first: list, similar: dict[frozenset, tuple]) -> dict:
    """Of the dropped: the best kept one that it is similar to, and what `similar` says of them."""
    kept, dropped = [], {}
    for text in best_first:
        alike = [other for other in kept if frozenset({text, other}) in similar]
        if alike:
            dropped[text] = (alike[0], *similar[frozenset({text, alike[0]})])
        else:
            kept.append(text)
    return dropped


def component_winners(best_first: list, similar: dict[frozenset, tuple], chain: tuple) -> dict:
    """The same if all that hang together are dropped for the best; `chain`: of no direct pair."""
    root = roots(best_first, [tuple(pair) for pair in similar])
    dropped = {}
    for text in best_first:
        winner = next(other for other in best_first if root[other] == root[text])
        if winner != text:
            dropped[text] = (winner, *similar.get(frozenset({text, winner}), chain))
    return dropped


def kept_documents(best_first: list, similar: set[frozenset], text_of: dict, exact: set) -> list:
    """Document by document. Those in `exact` are like equal texts alone, all others like documents
    that form a pair of `similar`, too."""
    kept: list = []
    for one in best_first:
        if not any(
            text_of[one] == text_of[other]
            or (frozenset({one, other}) in similar and not {one, other} & exact)
            for other in kept
        ):
            kept.append(one)
    return kept


def shares_band(one: list[int], other: list[int], bands: int, rows: int) -> bool:
    return any(
        one[band * rows : (band + 1) * rows] == other[band * rows : (band + 1) * rows]
        for band in range(bands)
    )


def pairs_by_equal_values(sketches: list[list[int]], permutations: int) -> list[int]:
    counts = [0] * (permutations + 1)
    for one, other in itertools.combinations(sketches, 2):
        counts[sum(a == b for a, b in zip(one, other, strict=True))] += 1
    return counts


def band_probability(permutations: int, bands: int, rows: int, equal: int) -> float:
    """By trying all places where the equal values may stand."""
    places = list(itertools.combinations(range(permutations), equal))
    sharing = [
        any(set(range(b * rows, (b + 1) * rows)) <= set(where) for b in range(bands))
        for where in places
    ]
    return sum(sharing) / len(places)


def roots(members, pairs) -> dict:
    """The least member of everyone's component: labels sink along pairs until all rest."""
    root = {member: member for member in members}
    moved = True
    while moved:
        moved = False
        for a, b in pairs:
            least = min(root[a], root[b])
            moved = moved or root[a] != least or root[b] != least
            root[a] = root[b] = least
    return root


def with_ends(documents: list[list[int]], end: int) -> list[int]:
    return list(itertools.chain.from_iterable([*ids, end] for ids in documents))


def lost_characters(text: str, normalized: str, back: str) -> int:
    """back: what the ids without unknown tokens are decoded to."""

    def missing(whole: str) -> int:
        return sum(max(0, whole.count(one) - back.count(one)) for one in set(whole))

    return min(missing(text), missing(normalized))


def split(id: int, fractions: dict[str, float], seed: int) -> int:
    chance = unit_hash(id, seed, "split")
    if chance < fractions["validation"]:
        return 1
    return 2 if chance < fractions["validation"] + fractions["test"] else 0


def shard(key: int, shards: int) -> int:
    return key * shards >> 64


def gathered(digests: list[bytes], origins: list[int]) -> list[tuple[bytes, int]]:
    """Each digest once, in order, with the least origin that brought it."""
    pairs = list(zip(digests, origins, strict=True))
    return [(one, min(by for digest, by in pairs if digest == one)) for one in sorted(set(digests))]


def matches(digests: list[bytes], held_out: list[tuple[bytes, int]]) -> list[int]:
    return [sum(by for digest, by in held_out if digest == one) for one in digests]


WHITE = " \t\n\v\f\r"
CLOSERS = "\"')]}»’”」』）"


def separators(text: str, unit: str) -> list[tuple[int, int]]:
    """Where each separator between two units begins and ends."""
    if unit == "line":
        return [(i, i + 1) for i, character in enumerate(text) if character == "\n"]
    body = len(text.rstrip(WHITE))
    start = len(text) - len(text.lstrip(WHITE))
    if unit == "paragraph":
        found = re.finditer(rf"\n([{WHITE}]*\n)+", text[start:body])
        return [(start + match.start(), start + match.end()) for match in found]
    found = []
    for match in re.finditer(rf"[.!?。！？][.!?。！？{re.escape(CLOSERS)}]*", text[:body]):
        end = len(text) - len(text[match.end() :].lstrip(WHITE))
        wide = set(match[0]) & set("。！？")
        if match.end() < body and (end > match.end() or wide):
            found.append((match.end(), end))
    return found


def units(text: str, unit: str) -> list[tuple[str, str]]:
    """Every unit and the separator after it; together they are the text."""
    bounds = [(0, 0), *separators(text, unit), (len(text), len(text))]
    return [
        (text[start:end], text[end:after])
        for (_, start), (end, after) in itertools.pairwise(bounds)
    ]


def span_text(units: list[tuple[str, str]], head: int, width: int) -> str:
    """A span from its first to its last character, without the last separator."""
    return "".join(a + b for a, b in units[head : head + width - 1]) + units[head + width - 1][0]


def span_key(text: str) -> int:
    folded = re.sub(r"\s+", " ", text.lower().strip())
    return int.from_bytes(hashlib.blake2b(folded.encode(), digest_size=8).digest(), "little")


def spans(text: str, unit: str, width: int, min_chars: int) -> list[tuple[int, int]]:
    """(key, first unit) of every span."""
    pieces = units(text, unit)
    found = []
    for head in range(len(pieces) - width + 1):
        span = span_text(pieces, head, width)
        if len(" ".join(span.lower().split())) >= min_chars:
            found.append((span_key(span), head))
    return found


def joined(units: list[tuple[str, str]], cut: set[int]) -> str:
    """The text without some units: no separator stands at its end that did not."""
    stay = [pair for place, pair in enumerate(units) if place not in cut]
    text = "".join(a + b for a, b in stay)
    if stay and len(units) - 1 in cut:
        text = text[: len(text) - len(stay[-1][1])]
    return text if not cut or text.strip(WHITE) else ""


def without_repeats(texts: list[str], unit: str, width: int, min_chars: int):
    """The texts without later occurrences; of each (text, start byte, end byte, key, first)."""
    seen: dict[int, int] = {}
    rest, record = [], []
    for number, text in enumerate(texts):
        pieces, cut = units(text, unit), set()
        for key, head in spans(text, unit, width, min_chars):
            if key in seen:
                cut |= set(range(head, head + width))
                start = len("".join(a + b for a, b in pieces[:head]).encode())
                end = start + len(span_text(pieces, head, width).encode())
                record.append((number, start, end, key, seen[key]))
            seen.setdefault(key, number)
        rest.append(joined(pieces, cut))
    return rest, record


def similarity_bin(similarity: str) -> int:
    """In hundredths, as it is written; 1 is in the last."""
    return min(int(Fraction(similarity) * 100), 99)


class Preferred(NamedTuple):
    """A value of the preferred field: kind number or text, and what is compared."""

    kind: str
    place: object


DATE_OR_TIME = re.compile(
    r"([+-]?[0-9]{4,})-([0-9]{2})-([0-9]{2})([T ]([0-9]{2}):([0-9]{2})(:([0-9]{2})([.,]([0-9]+))?)?"
    r"(Z|([+-][0-9]{2})(:?([0-9]{2}))?)?)?"
)
BEYOND = 0x110000  # after every code point


def instant(text: str) -> tuple[int, Fraction] | None:
    """(year in UTC, seconds since the year 2000) of an ISO 8601 date or time."""
    match = DATE_OR_TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, _, hour, minute, _, second, _, fraction, _, ahead, _, ahead_minutes = (
        match.groups()
    )
    cycles, in_cycle = divmod(int(year) - 2000, 400)
    zone = abs(int(ahead or 0)), int(ahead_minutes or 0)
    if zone > (23, 59) or zone[1] > 59:
        return None
    try:
        here = datetime(2000 + in_cycle, int(month), int(day), int(hour or 0), int(minute or 0),
                        int(second or 0))  # fmt: skip
    except ValueError:
        return None
    seconds = (here - datetime(2000, 1, 1)) // timedelta(seconds=1)
    seconds -= (zone[0] * 3600 + zone[1] * 60) * (-1 if (ahead or "").startswith("-") else 1)
    days = (seconds // 86400) % CYCLE_DAYS
    year = 2000 + 400 * (cycles + (seconds // 86400) // CYCLE_DAYS)
    year += (datetime(2000, 1, 1) + timedelta(days)).year - 2000
    total = seconds + cycles * CYCLE_DAYS * 86400
    return year, total + Fraction(int(fraction or 0), 10 ** len(fraction or ""))


CYCLE_DAYS = 400 * 365 + 97


def as_text(year: int, seconds: Fraction) -> str:
    whole, part = divmod(seconds, 1)
    days, second = divmod(whole, 86400)
    date = datetime(2000, 1, 1) + timedelta(days % CYCLE_DAYS)
    digits = f".{int(part * 10**40):040}".rstrip("0").rstrip(".")
    clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    return f"{year:04}-{date.month:02}-{date.day:02}T{clock}{digits}"


def preferred(value) -> Preferred | None:
    """value: None, a text, or a number as a Fraction."""
    if value is None or value == "NaN":
        return None
    if value in ("Infinity", "-Infinity"):
        return Preferred("number", float(value))
    if isinstance(value, Fraction):
        return Preferred("number", value)
    moment = instant(value)
    if moment is None:
        return Preferred("text", [ord(character) for character in value])
    year, seconds = moment
    if year > 9999:
        return Preferred("text", [*map(ord, "9999-12-31T23:59:59"), BEYOND, seconds])
    if year < 0:
        return Preferred("text", [*map(ord, "0000-01-01T00:00:0/"), BEYOND, seconds])
    return Preferred("text", [ord(character) for character in as_text(year, seconds)])


def longest_matches(text: bytes, model) -> dict[int, int]:
    """How often each feature of a py3langid model is the longest one that ends at a byte."""
    counts: dict[int, int] = {}
    state = 0
    for byte in text:
        state = model.tk_nextmove[model.tk_row[state] * 256 + byte]
        feature = model.tk_output[state]
        if feature >= 0:
            counts[feature] = counts.get(feature, 0) + 1
    return counts


def language_shares(counts: dict[int, int], text_bytes: int, model) -> dict[str, float]:
    """The probability of each language, in double precision."""
    sums = [
        float(prior)
        + math.fsum(math.log1p(times) * float(model.nb_ptc[f, k]) for f, times in counts.items())
        for k, prior in enumerate(model.nb_pc)
    ]
    parts = [math.exp((one - max(sums)) / math.sqrt(text_bytes or 1)) for one in sums]
    shares: dict[str, float] = {}
    for code, part in zip(model.nb_classes, parts, strict=True):
        shares[code] = shares.get(code, 0) + part / math.fsum(parts)
    return shares


def main_script(text: str, places, scripts: tuple[str, ...]) -> str:
    """The script of most letters; of as many the one that is earlier in `scripts`."""
    letters = [scripts[places[ord(character)]] for character in text]
    letters = [letter for letter in letters if letter != "Zyyy"]
    kana = sum(letter in ("Hira", "Kana") for letter in letters)
    asian = [character for character in text if scripts[places[ord(character)]] == "Hani"]
    simplified, traditional = (
        sum(in_one_set(character, one, other) for character in asian)
        for one, other in (("gb2312", "big5"), ("big5", "gb2312"))
    )
    if 20 * kana > len(asian):
        chinese = "Jpan"
    else:
        chinese = {1: "Hans", -1: "Hant", 0: "Hani"}[
            (simplified > traditional) - (simplified < traditional)
        ]
    letters = [chinese if letter in ("Hani", "Hira", "Kana") else letter for letter in letters]
    return max(scripts, key=letters.count) if letters else "Zyyy"


def in_one_set(character: str, one: str, other: str) -> bool:
    return bool(character.encode(one, "ignore")) and not character.encode(other, "ignore")


def handed_out(total: int, wants: list[int]) -> list[int]:
    """One by one to whoever has the least and wants more."""
    got = [0] * len(wants)
    for _ in range(total):
        open_places = [place for place, want in enumerate(wants) if got[place] < want]
        if not open_places:
            break
        got[min(open_places, key=lambda place: got[place])] += 1
    return got


def even_sample(files: list[list[str]], most: int, seed: int, purpose: str) -> list[str]:
    """The texts with the least keys, in their order."""
    keyed = [
        (keyed_hash(file << 32 | row, seed, purpose), file, row)
        for file, texts in enumerate(files)
        for row in range(len(texts))
    ]
    places = sorted((file, row) for _, file, row in sorted(keyed)[:most])
    return [files[file][row] for file, row in places]


def threshold_at(
    weighted: list[tuple[int, int]], side: str, level: int, of: int, total: int
) -> int:
    """The strictest value that drops at most `level / of` of the total weight."""

    def dropped(bound: int) -> int:
        beyond = (lambda v: v < bound) if side == "below" else (lambda v: v > bound)
        return sum(weight for value, weight in weighted if beyond(value))

    fitting = [value for value, _ in weighted if dropped(value) * of <= level * total]
    return max(fitting) if side == "below" else min(fitting)


def overlap(dropped: list[set[int]], weights) -> tuple[list[list[float]], list[float]]:
    """Of what each drops, the shares that each other and that no other drops."""

    def weight(rows: set[int]) -> float:
        return float(sum(weights[row] for row in rows))

    both, alone = [], []
    for place, mine in enumerate(dropped):
        whole = weight(mine) or 1.0
        both.append([weight(mine & other) / whole for other in dropped])
        others = set().union(*(one for k, one in enumerate(dropped) if k != place))
        alone.append(weight(mine - others) / whole)
    return both, alone


def find_pattern(data: bytes, start: int, stop: int, patterns: list, or_bits: int = 0) -> int:
    """The first place from start on where a pattern, least and greatest of each byte, begins."""
    for place in range(start, stop):
        for pattern in patterns:
            here = [byte | or_bits for byte in data[place : place + len(pattern)]]
            if len(here) == len(pattern) and all(
                low <= byte <= high for byte, (low, high) in zip(here, pattern, strict=True)
            ):
                return place
    return stop


def block_sums(name: str, content: bytes, block_bytes: int) -> list[int]:
    """XXH3 of every block; the seed is XXH3 of the name plus the number of the block."""
    seed = xxhash.xxh3_64(name.encode()).intdigest()
    blocks = [content[at : at + block_bytes] for at in range(0, len(content), block_bytes)]
    return [xxhash.xxh3_64(b, seed=(seed + k) % 2**64).intdigest() for k, b in enumerate(blocks)]


def cluster_sizes(winners: list[int]) -> list[dict]:
    """Clusters of a kept document and those dropped for it, by size."""
    sizes = [winners.count(winner) + 1 for winner in set(winners)]
    found = []
    bounds = [(2, 2), (3, 3), (4, 4), (5, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 500)]
    for least, most in bounds:
        if mine := [size for size in sizes if least <= size <= most]:
            found.append(
                {"least": least, "most": most, "clusters": len(mine), "documents": sum(mine)}
            )
    return found


def emptied_by(pieces: list[tuple[int, str, str]], spans: list[int], row: int) -> str | None:
    """What cut the last of a text. pieces: row, filter and rule, in order; spans: rows."""
    if mine := [(filter, rule) for one, filter, rule in pieces if one == row]:
        last = mine[-1][0]
        rules = sorted({rule for filter, rule in mine if filter == last})
        return f"{last} cut the last of it: {', '.join(rules)}"
    return "repeated spans were the last of it" if row in spans else None


class Candidate(NamedTuple):
    """A document that a mixture may use."""

    id: int
    cell: int
    factor: float
    draw: float
    size: int


def copies_at(level: float, one: Candidate, most: int) -> int:
    wanted = min(level * one.factor, most)
    return sum(k + Fraction(one.draw) < Fraction(wanted) for k in range(math.ceil(wanted)))


def first_level(one: Candidate, copies: int, most: int) -> float:
    """The lowest level at which a document has so many copies."""
    low, high = 0.0, 2.0 * most / one.factor
    while math.nextafter(low, math.inf) < high:
        middle = (low + high) / 2
        low, high = (low, middle) if copies_at(middle, one, most) >= copies else (middle, high)
    return high


def apportioned(
    candidates: list[Candidate], targets: list[Fraction], limits: list[int], groups: list[int],
    budget: int, most: int,
) -> dict[int, int]:  # fmt: skip
    """Document id -> copies. In each cell copies are handed out in order while they fit. What is
    left goes to the cells that lack most of their next document: first within each group, then one
    document per group."""
    copies = {one.id: 0 for one in candidates}
    reached, waiting = [], []
    for cell, target in enumerate(targets):
        events = sorted(
            (first_level(one, copy, most), one.id, one)
            for one in candidates
            if one.cell == cell and one.factor > 0
            for copy in range(1, most + 1)
        )
        size = 0
        for _, id, one in events:
            if size + one.size > target:
                waiting.append((-(target - size) / one.size, cell, one))
                break
            size += one.size
            copies[id] += 1
        reached.append(size)
    waiting = [row for row in waiting if reached[row[1]] + row[2].size <= limits[row[1]]]
    waiting.sort(key=lambda row: row[:2])
    served = set()
    for within_groups in (True, False):
        for row in list(waiting):
            _, cell, one = row
            mine = [other for other in range(len(targets)) if groups[other] == groups[cell]]
            left = budget - sum(reached)
            if within_groups:
                left = sum(targets[k] - reached[k] for k in mine)
            if one.size <= left and groups[cell] not in served:
                reached[cell] += one.size
                copies[one.id] += 1
                waiting.remove(row)
                if not within_groups:
                    served.add(groups[cell])
    return copies


def mixture_targets(
    documents: list[tuple[str, int, int]], budget: int, maxima: dict[str, float | None],
    of_all: float | None, on_shortage: str, most: int,
) -> dict[str, Fraction] | None:  # fmt: skip
    """Target of each cell in proportion to size x factor; None if the run has to stop. documents:
    cell, size, factor. maxima: epochs of each cell."""
    limits, sizes = {}, {}
    mass = sum(size * factor for _, size, factor in documents) or 1
    for cell, epochs in maxima.items():
        mine = [(size, factor) for name, size, factor in documents if name == cell]
        limits[cell] = sum(most * size for size, factor in mine if factor)
        if epochs is not None and on_shortage != "repeat":
            allowed = math.floor(Fraction(str(epochs)) * sum(size for size, _ in mine))
            limits[cell] = min(limits[cell], allowed)
        sizes[cell] = Fraction(budget * sum(size * factor for size, factor in mine), mass)
    usable = sum(size for _, size, factor in documents if factor)
    if of_all is not None and on_shortage != "repeat" and budget > Fraction(str(of_all)) * usable:
        return None
    wanted = dict(sizes)
    while on_shortage == "rescale" and any(sizes[cell] > limits[cell] for cell in sizes):
        full = {cell for cell in sizes if sizes[cell] >= limits[cell]}
        open_cells = sum(wanted[cell] for cell in wanted if cell not in full)
        if not open_cells:
            break
        more = (sum(wanted.values()) - sum(limits[cell] for cell in full)) / open_cells
        for cell in sizes:
            sizes[cell] = Fraction(limits[cell]) if cell in full else wanted[cell] * more
    return None if any(sizes[cell] > limits[cell] for cell in sizes) else sizes


def cut_documents(sizes: list[int], length: int) -> list[tuple[int, int]]:
    """(start, size) of the pieces of each document: at most length + 1 tokens, one of them shared
    with the next piece."""
    pieces, at = [], 0
    for size in sizes:
        start = 0
        while start == 0 or start + 1 < size:
            pieces.append((at + start, min(length + 1, size - start)))
            start += length
        at += size
    return pieces


def best_fit(sizes: list[int], capacity: int) -> list[int]:
    """The row of each piece: longest first, into the fullest row in which it fits."""
    row_of, held = [0] * len(sizes), list[int]()
    for piece in sorted(range(len(sizes)), key=lambda piece: -sizes[piece]):
        fitting = [row for row in range(len(held)) if held[row] + sizes[piece] <= capacity]
        if not fitting:
            held.append(0)
            fitting = [len(held) - 1]
        row_of[piece] = max(fitting, key=lambda row: held[row])  # the first of the fullest
        held[row_of[piece]] += sizes[piece]
    return row_of


def packed_index(sizes: list[int], length: int, seed: int) -> list[list[tuple[int, int]]]:
    """(start, end) of the pieces of each row, the rows in the order of their hash."""
    rows: dict[int, list[tuple[int, int]]] = {}
    pieces = cut_documents(sizes, length)
    row_of = best_fit([size for _, size in pieces], length + 1)
    for (start, size), row in zip(pieces, row_of, strict=True):
        rows.setdefault(row, []).append((start, start + size))
    return sorted(rows.values(), key=lambda row: keyed_hash(row[0][0], seed, "pack"))
