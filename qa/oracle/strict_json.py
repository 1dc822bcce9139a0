"""JSON by the letter of RFC 8259, members kept as they were written.

The parser walks over the text and gives, for the object at the top, each member's name and the
characters of its value. It knows nothing of numbers or nested values but where they end.
"""

import re
from dataclasses import dataclass

STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
WORD = re.compile(r"true|false|null")
BLANKS = re.compile(r"[ \t\r\n]*")
BEGINNINGS = re.compile(r"\[+|\{")  # of many arrays at once: some lines are nothing else
ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
PLAIN = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
ESCAPED = re.compile(r'["\\\x00-\x1f]')


class NotJsonError(Exception):
    """What is wrong with a line."""


@dataclass
class Member:
    name: str
    raw_name: str
    raw: str


def decode_string(raw: str) -> str:
    """The string that `raw`, with its quotes, stands for; half pairs stay half pairs."""
    text = ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else PLAIN[m[2]], raw[1:-1])
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def encode_string(text: str) -> str:
    """JSON that escapes what it must and nothing else."""
    return '"' + ESCAPED.sub(lambda m: SHORT.get(m[0]) or f"\\u{ord(m[0]):04x}", text) + '"'


def has_lone_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def kind_of(raw: str) -> str:
    """What a value that begins with this character is called."""
    kinds = {'"': "a string", "[": "an array", "{": "an object", "n": "null"}
    return kinds.get(raw[:1], "a boolean" if raw[:1] in ("t", "f") else "a number")


class Parser:
    """One walk over `text`, which may hold any value.

    `strings` has those of the member that was walked over last, `levels` how many arrays and
    objects are in each other.
    """

    def __init__(self, text: str):
        self.text = text
        self.place = 0
        self.strings: list[str] = []
        self.levels = 0

    def blanks(self) -> None:
        self.place = BLANKS.match(self.text, self.place).end()

    def peek(self) -> str:
        return self.text[self.place : self.place + 1]

    def take(self, expected: str) -> None:
        if self.peek() != expected:
            raise NotJsonError(f"expected {expected!r} at character {self.place}")
        self.place += 1

    def scalar(self, *kinds: re.Pattern) -> str:
        for kind in kinds:
            if found := kind.match(self.text, self.place):
                self.place = found.end()
                if kind is STRING:
                    self.strings.append(decode_string(found[0]))
                return found[0]
        raise NotJsonError(f"no JSON value at character {self.place}")

    def name(self) -> str:
        self.blanks()
        raw = self.scalar(STRING)
        self.blanks()
        self.take(":")
        self.blanks()
        return raw

    def value(self, levels_above: int) -> str:
        """Walk over one value, however deep; its characters."""
        begin = self.place
        closers: list[str] = []
        while True:
            self.blanks()
            if self.peek() in ("{", "["):
                begins = BEGINNINGS.match(self.text, self.place)
                self.place = begins.end()
                closers += ["}" if begins[0] == "{" else "]"] * len(begins[0])
                self.levels = max(self.levels, levels_above + len(closers))
                self.blanks()
                if self.peek() != closers[-1]:
                    if closers[-1] == "}":
                        self.name()
                    continue
                closers.pop()
                self.place += 1
            else:
                self.scalar(STRING, NUMBER, WORD)
            # A value is finished: what contains it goes on or is finished, too.
            while closers:
                if self.peek() == closers[-1]:
                    closers.pop()
                    self.place += 1
                    continue
                self.blanks()
                if self.peek() == ",":
                    self.place += 1
                    if closers[-1] == "}":
                        self.name()
                    break
                self.take(closers.pop())
            else:
                return self.text[begin : self.place]

    def members(self) -> list[tuple[Member, list[str]]]:
        """Members of the object that begins here, each with the strings in its value."""
        found = []
        self.take("{")
        self.levels = 1
        self.blanks()
        while self.peek() != "}":
            if found:
                self.take(",")
            raw_name = self.name()
            name = self.strings.pop()
            self.strings = []
            raw = self.value(levels_above=1)
            found.append((Member(name, raw_name, raw), self.strings))
            self.strings = []
            self.blanks()
        self.take("}")
        return found

    def whole(self) -> tuple[str, list[tuple[Member, list[str]]]]:
        """(what kind of value the text is, its members if it is an object)."""
        self.blanks()
        begin = self.peek()
        members = self.members() if begin == "{" else []
        if begin != "{":
            self.value(levels_above=0)
        self.blanks()
        if self.place != len(self.text):
            raise NotJsonError(f"more behind the value at character {self.place}")
        return kind_of(begin), members
