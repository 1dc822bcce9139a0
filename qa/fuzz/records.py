"""JSON records as they come from many hands: every kind of member, and every kind of fault."""

import json
import random

PLAIN_VALUES = [
    "0", "-0", "-0.0", "1", "-17", "1.50", "1e5", "1E+05", "0.1e-7", "1e999", "-1e999", "1e-999",
    "9007199254740993", "18446744073709551616", "123456789012345678901234567890.5", "0.1000",
    "true", "false", "null", '""', '"x"', "[]", "{}", "[ ]", "{ }",
    '"\\u0041\\u00e9\\ud83d\\ude00"', '"\\u0000"', '"\\/ \\\\ \\" \\b\\f\\n\\r\\t"', '"é ẞ 水 😀"',
    '"\u2028\u2029\x85\x7f"', '"e\u0301"', '"<|endoftext|>"', '"2024-02-29T12:00:00Z"',
    "[1, 2.50 ,null]", '{"a":1,"a":2}', '{"a": {"b": {"a": [true, {"b": "x", "b": 1.0}]}}}',
    '{"":0}', '[[[[[]]]]]', '[1e400,{"text":"t"}]', '"NaN"', '"Infinity"',
]  # fmt: skip
NAMES = ["url", "n", "meta", "Größe", "水", "", "a b", 'say "x"', "back\\slash", "text", "before",
         "corpusmill", "id", "copy", "source", "split", "e\u0301", "é", "line\u2028",
         "\u0001"]  # fmt: skip

DATES = ["2024-02-29", "2023-12-31T23:59:59Z", "2024-01-01T00:59:59+01:00", "2024-01-01 00:00",
         "1969-07-20T20:17:40.123456789Z", "2024-01-01T00:00:00.10Z", "2024-01-01T00:00:00.1Z",
         "2024-06-30T12:00:00,5+0530", "-0044-03-15", "+12024-01-01", "9999-12-31T23:59:59Z",
         "10000-01-01", "2023-02-29", "2024-01-01T25:00:00Z", "2024-01-01T10:00:00-23",
         "20240101", "2024-1-1", "0000-01-01"]  # fmt: skip
TEXTS = ["", "a", "b", "B", "ab", "é", "e\u0301", "\uffff", "\U00010000",
         "the same first bytes 1", "the same first bytes 2", "the same first bytes", "\u0000",
         "水", "1", "-1", "zz" * 50]  # fmt: skip
INTEGERS = ["0", "-0", "1", "2", "-3", "9007199254740992", "9007199254740993", "9007199254740994",
            "18446744073709551615", "18446744073709551616", "-9223372036854775809",
            "1" + "0" * 40]  # fmt: skip
DECIMALS = ["0.1", "0.10", "0.3", "0.30000000000000004", "0.300000000000000041", "-0.0", "1.50",
            "1.5", "15e-1", "1e999", "1e1000", "-1e999", "1e-999", "2e-999", "-1e-400",
            "5e-324"]  # fmt: skip
DUMPS = ['"2023"', '"2023"', '"2024"', '"2024"', "2024", '""', "null", "[1]", None]
NO_VALUES = ["null", "true", "[]", "{}", '"NaN"', "[1]", "false"]
KINDS = {
    "integers": INTEGERS,
    "decimals": [*DECIMALS, *INTEGERS, '"Infinity"', '"-Infinity"'],
    "texts": [json.dumps(text) for text in TEXTS],
    "dates": [json.dumps(text) for text in DATES],
    "dates and texts": [json.dumps(text) for text in [*DATES, *TEXTS, "2024", "january"]],
    "mixed": [*INTEGERS, '"a"', '"2024-01-01"'],
}


def preferred(random: random.Random, kind: str) -> str | None:
    """A raw value of the field that duplicates are chosen by; None: the field is not there."""
    if random.random() < 0.2:
        return random.choice([None, *NO_VALUES])
    if kind == "integers" and random.random() < 0.5:
        return str(random.choice([random.randint(-9, 9), 2**53 + random.randint(-3, 3)]))
    if kind == "decimals" and random.random() < 0.5:
        return repr(random.uniform(-1, 1))
    return random.choice(KINDS[kind])


def dumped(place: str, member: str, raw: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The members with one of few dumps, as `dump` or `meta.dump`, mostly."""
    name, *inner = member.split(".")
    # By its place, so that other draws stay as they are without it.
    value = random.Random(place).choice(DUMPS)
    others = [(other, its) for other, its in raw if other != name]
    if value is None:
        return others
    return [*others, (name, f'{{"{inner[0]}": {value}}}' if inner else value)]


def escaped(random: random.Random, text: str) -> str:
    """One of the ways in which JSON can say a string."""
    style = random.random()
    plain = json.dumps(text, ensure_ascii=style < 0.25)
    if style > 0.95 and len(text) < 500:
        units = text.encode("utf-16-be", "surrogatepass").hex()
        return '"' + "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4)) + '"'
    return plain.replace("/", "\\/") if style > 0.85 else plain


def members(random: random.Random, text_field: str) -> list[tuple[str, str]]:
    """A few members beside the text, each name once: name and raw value."""
    many = random.choice([0, 0, 1, 2, 3, 6])
    names = [name for name in random.sample(NAMES, many) if name != text_field]
    return [(name, random.choice(PLAIN_VALUES)) for name in names]


def line(random: random.Random, raw: list[tuple[str, str]]) -> bytes:
    """The members in any order and any style of white space, without the end of the line."""
    raw = random.sample(raw, len(raw)) if random.random() < 0.5 else raw
    colon, comma, outer = random.choice(
        [(":", ",", ""), (": ", ", ", ""), (" : ", " ,\t", " "), ("\t:\t", ",  ", "\t")]
    )
    inner = comma.join(escaped(random, name) + colon + value for name, value in raw)
    return f"{outer}{{{outer}{inner}{outer}}}{outer}".encode()


FAULTS = ["blank", "byte order mark", "not UTF-8", "not JSON", "not a value", "not an object",
          "no text", "not a string", "lone surrogate", "twice", "too deep"]  # fmt: skip
NOT_JSON = ["{", '{"FIELD":"x"', '{"FIELD":"x",}', '{"FIELD":"x"} {"FIELD":"y"}', "{'FIELD':'x'}",
            '{"FIELD":"a\tb"}', '{"FIELD":"\\x41"}', '{"FIELD" "x"}', '{FIELD:"x"}',
            '{"FIELD":"x"},', '{"FIELD":"x"}//', '{"FIELD":"x"\u00a0}', '{"FIELD":"x","a":[1}',
            "hello", '{"FIELD":"x"\x0c}',
            '{"FIELD":"\\u12"}', '{"FIELD":"x", "a"}', '{"FIELD":"x\x00y"}', "\x00"]  # fmt: skip
NOT_VALUES = ["NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x10", "1e", "True", "nul",
              "--1", "1_000", "'x'", "undefined", ""]  # fmt: skip
SURROGATES = [
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '["a",{"b":"\\ud83d"}]',
    '"\\ud83dx"',
    '{"\\udfff":1}',
]


def malformed(random: random.Random, text_field: str, fault: str) -> bytes:
    """A line that is no record, for one reason of FAULTS."""
    text = '"a text that would do otherwise"'
    name = json.dumps(text_field)
    good = f"{{{name}:{text}}}".encode()
    bare = text_field if text_field.isascii() else "text"
    if fault == "blank":
        return random.choice([b"", b" ", b"\t  ", b"\r", b"\x0b"])
    if fault == "byte order mark":
        return b"\xef\xbb\xbf" + good
    if fault == "not UTF-8":
        bad = random.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"])
        member = b',"a":"' + bad + b'"}'
        return random.choice([good[:-2] + bad + b'"}', good[:-1] + member])
    if fault == "not JSON":
        return random.choice(NOT_JSON).replace("FIELD", bare).encode()
    if fault == "not a value":
        return f'{{{name}:{text},"a":{random.choice(NOT_VALUES)}}}'.encode()
    if fault == "not an object":
        return random.choice([b"[]", b'["text"]', b'"text"', b"1", b"null", b"true", b"1e999"])
    if fault == "no text":
        return random.choice([b"{}", f"{{{json.dumps(text_field.upper() + '_')}:{text}}}".encode()])
    if fault == "not a string":
        return f"{{{name}:{random.choice(['null', '1', '[]', '{}', 'true', '1.50'])}}}".encode()
    if fault == "lone surrogate":
        other = f'{{{name}:{text},"a":{random.choice(SURROGATES)}}}'
        named = f'{{{name}:{text},"\\ud800":1}}'
        return random.choice([f'{{{name}:"cut \\ud83d off"}}', other, named]).encode()
    if fault == "twice":
        twice = [f"{name}:{text},{name}:{text}", f'{name}:{text},"a":1,"a":2',
                 f'"a":1,{name}:{text},"\\u0061":1', f'"":1,"":1,{name}:{text}']  # fmt: skip
        return ("{" + random.choice(twice) + "}").encode()
    assert fault == "too deep", fault
    return f'{{{name}:{text},"a":{"[" * 100_000}{"]" * 100_000}}}'.encode()
