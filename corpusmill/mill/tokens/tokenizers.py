"""Tokenizers: the reference, as transformers loads it or as the run keeps it, and the encoders.

The reference for every id is `tokenizer(text, add_special_tokens=False,
split_special_tokens=True)` of transformers: a special token's string inside a text is text.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from corpusmill.mill.storage.files import check_folder, load_json
from corpusmill.mill.storage.regular_files import fault_of_kind
from corpusmill.mill.storage.untrusted import MOST_BYTES, read_as_written, too_large, whole_file
from corpusmill.mill.tokens.bounded import (
    BoundedProcess,
    Bounds,
    first_line,
    in_bounded_process,
    is_panic,
    told_of_tokenizer,
)
from corpusmill.mill.tokens.definitions import bounded_definition
from corpusmill.mill.tokens.ends_of_text import DEFINITION, named_in
from corpusmill.mill.tokens.named_files import SMALL, refuse_files_named_in, tokenizer_folders
from corpusmill.mill.tokens.probes import PROBES
from corpusmill.mill.tokens.vocabulary import token_ids_of

_Given = TypeVar("_Given")
_Found = TypeVar("_Found")

SETTING_FILE = "corpusmill.json"
PLAIN_FILE = "corpusmill-plain.json"
BYTES_FILE = "corpusmill-bytes.npy"
READ_WHOLE = (".json", ".jinja", ".txt", ".model", ".codes", ".spm", ".vocab")
"""Endings of files that transformers reads completely."""


class TokenizerFacts(NamedTuple):
    """The facts about a tokenizer that encode and verify need; stored as corpusmill.json in its
    folder."""

    source: str
    vocabulary: int  # len(tokenizer), or more if ids have gaps: every id is below
    end_of_text: str
    end_of_text_id: int
    dtype: str  # uint16 or uint32
    engine: str  # gigatoken or reference
    light: bool  # jobs may use LightReference
    lossless: bool  # decoding restores the text, except around lossy_tokens
    lossy_tokens: dict[str, int]  # added tokens, not special, that remove neighbouring text
    normalizer: list[str]  # steps of the tokenizer's own normalizer
    unknown_ids: list[int]  # ids of tokens for text outside the vocabulary
    added_bytes: int | None  # spaces added in front; None: ids do not show losses

    @classmethod
    def load(cls, folder: Path) -> "TokenizerFacts":
        """Load the facts from a folder, after checking the sums of all its files."""
        check_folder(folder)
        path = Path(folder) / SETTING_FILE
        return cls.of(load_json(path), path)

    @classmethod
    def of(cls, content: Any, where: object) -> "TokenizerFacts":
        """Return the facts from a file's content; raise ValueError if they are invalid."""
        ids = token_ids_of(content, where)
        try:
            if other := set(content) ^ set(cls._fields):
                raise ValueError(f"member {min(other)} missing or not known")
            return msgspec.convert([content[one] for one in cls._fields], cls).within(ids.size)
        except ValueError as error:
            raise ValueError(
                f"{where}: expected the description of a tokenizer, found something else "
                f"({error}). Mill the corpus again."
            ) from (error)

    def within(self, size: int) -> "TokenizerFacts":
        """Return the facts; raise ValueError if an id is not below `size`."""
        for id in (*self.unknown_ids, *self.lossy_tokens.values()):
            if not 0 <= id < size:
                raise ValueError(f"id {id} of {size}")
        return self


def load_reference(source: str) -> Any:
    """Return the transformers tokenizer of a local folder or hub id."""
    from transformers import AutoTokenizer, dynamic_module_utils
    from transformers.utils import logging as transformers_logging

    # A folder can name another Auto class for its tokenizer, which does not get our `False`: it
    # would ask the user at the terminal, and run code after a yes.
    vars(dynamic_module_utils).update(TIME_OUT_REMOTE_CODE=0, get_cached_module_file=_refused)
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call] # no word about texts beyond a model's context
    if Path(source).is_dir():
        _refuse_unusual_files(Path(source))
    else:
        _refuse_unusual_hub_files(source)
    with _told_of_loading(source):
        return AutoTokenizer.from_pretrained(source, trust_remote_code=False)


@contextlib.contextmanager
def _told_of_loading(source: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:  # for an invalid file it raises any class
        if not (isinstance(error, Exception) or is_panic(error)):
            raise
        said = first_line(error)
        if "trust_remote_code" in str(error):
            said = "it needs custom code (auto_map), which corpusmill never runs"
        raise ValueError(
            f"tokenizer.source: transformers cannot load {source} ({said}). Give a folder with "
            "tokenizer.json, a hub id that this machine can reach, or train."
        ) from error


def _refuse_unusual_files(folder: Path) -> None:
    """Raise ValueError for files that transformers would read whole but that are not usable."""
    folders = tokenizer_folders(folder)
    for path in sorted(path for one in folders for path in one.glob("*")):
        if path.suffix not in READ_WHOLE:
            continue
        if fault := fault_of_kind(path):
            raise ValueError(f"tokenizer.source: {fault}")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise too_large(path, MOST_BYTES, f"{size:,}")
    for definition in (one / DEFINITION for one in folders):
        if definition.is_file():
            _refuse_unbounded(definition)
    named_in(folder)  # refuses too many special tokens


def _refuse_unusual_hub_files(hub_id: str) -> None:
    """Raise ValueError for unusable files of a hub tokenizer, by those that name what is read."""
    from transformers.utils.hub import cached_file

    for name in (*SMALL, DEFINITION):
        with _told_of_loading(hub_id):
            found = cached_file(hub_id, name, _raise_exceptions_for_missing_entries=False)
        if found is None:
            continue
        if name == DEFINITION:
            _refuse_unbounded(Path(found))
        else:
            refuse_files_named_in(Path(found))


def _refuse_unbounded(definition: Path) -> None:
    try:
        bounded_definition(whole_file(definition))
    except ValueError as error:
        raise ValueError(f"tokenizer.source: {definition}: {error}. Give another.") from error


def _refused(*_: Any, **__: Any) -> None:
    raise ValueError("no code is loaded: trust_remote_code is False")


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name a kept file in errors about its content."""
    try:
        yield
    except ValueError as error:
        raise ValueError(
            f"{path}: expected content written by corpusmill, found something else ({error}). Copy "
            "it again."
        ) from error


_HELD: dict[tuple[int, ...], Any] = {}
"""Objects of libraries, by the state of the file from which they were loaded. Only `hold` adds
objects."""


def _state_of(path: Path) -> tuple[int, ...]:
    """Return what identifies a file and changes whenever the file changes."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _loaded(path: Path, load: Callable[[bytes], Any]) -> Any:
    """Return the object that is held for a file as it is now; load it if there is none."""
    held = _HELD.get(_state_of(path)) if _HELD else None
    return load(whole_file(path)) if held is None else held


def hold(folder: Path) -> None:
    """Load the tokenizer of a run, and hold it for processes that are forked from this one."""
    setting = TokenizerFacts.load(folder)
    if setting.light:
        state = _state_of(Path(folder) / "tokenizer.json")
        _HELD[state] = LightReference(folder).backend_tokenizer
    if setting.engine == "gigatoken":
        path = Path(folder) / PLAIN_FILE
        state = _state_of(path)
        _HELD[state] = _gigatoken(whole_file(path).decode("utf-8"))


class LightReference:
    """A fast tokenizer for jobs, without the second that transformers takes to load.

    It calls the `tokenizers` library like transformers. keep_tokenizer has compared the two on
    PROBES before any job uses this.
    """

    is_fast = True

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        path = Path(folder) / "tokenizer.json"
        with read_as_written(path):

            def load(written: bytes) -> Any:
                with _named(path):
                    bounded_definition(written)
                return Tokenizer.from_str(written.decode("utf-8", "replace"))

            self.backend_tokenizer = _loaded(path, load)
        self.backend_tokenizer.no_truncation()
        self.backend_tokenizer.no_padding()

    def __call__(
        self, texts: list[str], add_special_tokens: bool, split_special_tokens: bool
    ) -> dict[str, list[list[int]]]:
        self.backend_tokenizer.encode_special_tokens = split_special_tokens
        encoded = self.backend_tokenizer.encode_batch(texts, add_special_tokens=add_special_tokens)
        return {"input_ids": [one.ids for one in encoded]}

    def decode(
        self, ids: list[int], skip_special_tokens: bool, clean_up_tokenization_spaces: bool
    ) -> str:
        del clean_up_tokenization_spaces  # transformers does it afterwards; no caller here wants it
        return self.backend_tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)


def load_kept(folder: Path, setting: TokenizerFacts) -> Any:
    """Return the reference tokenizer of the run, a LightReference if possible."""
    return LightReference(folder) if setting.light else load_reference(str(folder))


class ReceivedReference:
    """The reference of untrusted results. It works in a process of its own, within bounds."""

    def __init__(self, folder: Path, setting: TokenizerFacts, name: object) -> None:
        """Load and try it. name: for messages."""
        self._process = BoundedProcess(
            name, Bounds(), lambda: _tried(folder, setting), _answer_of_reference
        )

    def ask(self, function: str, given: Any) -> Any:
        """Call a function of `_in_its_process` there."""
        return self._process.ask([function, given])


def load_received(folder: Path, setting: TokenizerFacts, name: object = None) -> ReceivedReference:
    """Return the reference tokenizer of untrusted results.

    Raise ValueError if the libraries fail on it or exceed the bounds. name: for messages, if not
    the folder.
    """
    return ReceivedReference(folder, setting, name or folder)


def try_received(folder: Path, setting: TokenizerFacts) -> None:
    """Raise ValueError if a tokenizer or its encoder fails or exceeds the bounds."""

    def tried() -> None:
        _tried(folder, setting)
        encoder_of(folder, setting)([probe.encode() for probe in PROBES])

    in_bounded_process(folder, Bounds(), tried)


def _tried(folder: Path, setting: TokenizerFacts) -> Any:
    """Return the reference after trying it."""
    reference = load_kept(folder, setting)
    for ids in reference_ids(reference, PROBES):
        decoded(reference, ids)
    for text in PROBES:
        normalized(reference, text)
    return reference


def _answer_of_reference(reference: Any, question: Any) -> Any:
    function, given = question
    return _FUNCTIONS[function](reference, given)


_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {}
"""Functions of a reference that run in its process, by name."""


def _in_its_process(function: Callable[[Any, _Given], _Found]) -> Callable[[Any, _Given], _Found]:
    """Let a function of a reference and something else work where the reference is."""

    @functools.wraps(function)
    def called(reference: Any, given: _Given) -> _Found:
        if isinstance(reference, ReceivedReference):
            found: _Found = reference.ask(function.__name__, given)
            return found
        with told_of_tokenizer("this tokenizer"):
            return function(reference, given)

    _FUNCTIONS[function.__name__] = called
    return called


@_in_its_process
def reference_ids(reference: Any, texts: list[str]) -> list[list[int]]:
    if not texts:
        return []
    return reference(texts, add_special_tokens=False, split_special_tokens=True)["input_ids"]


def definition_of(reference: Any) -> bytes | None:
    """Return the tokenizer.json of a reference, if it has one."""
    if not getattr(reference, "is_fast", False):
        return None
    return reference.backend_tokenizer.to_str().encode("utf-8")


def plain_definition(definition: bytes | None) -> str:
    """Return tokenizer.json without special added tokens, so that their strings are plain text."""
    if definition is None:
        raise ValueError("it has no tokenizer.json")
    members = msgspec.json.decode(definition, type=dict[str, msgspec.Raw])
    added = msgspec.json.decode(members["added_tokens"])
    plain = msgspec.json.encode([token for token in added if not token["special"]])
    members["added_tokens"] = msgspec.Raw(plain)
    for name in ("post_processor", "truncation", "padding"):
        members[name] = msgspec.Raw(b"null")
    return msgspec.json.encode(members).decode("utf-8")


@_in_its_process
def normalized(reference: Any, text: str) -> str:
    """Return a text after the tokenizer's own normalizer."""
    if not getattr(reference, "is_fast", False) or not reference.backend_tokenizer.normalizer:
        return text
    return reference.backend_tokenizer.normalizer.normalize_str(text)


@_in_its_process
def decoded(reference: Any, ids: list[int]) -> str:
    return reference.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)


def as_it_may_come_back(reference: Any, text: str) -> list[str]:
    """Return the forms in which a text may be decoded: as it is or normalized, with or without a
    space in front, with ▁ or a space.

    Many tokenizers add a space in front, and remove one even if they did not. Those that write a
    space as ▁ decode a literal ▁ to a space.
    """
    wholes = {text, normalized(reference, text)}
    wholes |= {one.replace("▁", " ") for one in wholes}
    return [form for one in wholes for form in (one, " " + one, one.removeprefix(" "))]


def gives_back(reference: Any, ids: Any, text: str) -> bool:
    """Say whether ids decode to the text."""
    return decoded(reference, ids) in as_it_may_come_back(reference, text)


Encoder = Callable[[list[bytes]], list[np.ndarray]]
"""A function that returns the ids of each of some UTF-8 texts, as uint32."""


def reference_encoder(reference: Any) -> Encoder:
    def encode(texts: list[bytes]) -> list[np.ndarray]:
        found = reference_ids(reference, [text.decode() for text in texts])
        return [np.array(ids, np.uint32) for ids in found]

    return encode


def _gigatoken(definition: str) -> Any:
    import gigatoken

    bounded_definition(definition.encode())
    with told_of_tokenizer("this tokenizer"):
        return gigatoken.Tokenizer.from_json(definition)


def gigatoken_encoder(definition: str) -> Encoder:
    """Return the encoder. definition: from `plain_definition`."""
    return _encoder_with(_gigatoken(definition))


def _encoder_with(tokenizer: Any) -> Encoder:
    # One text at a time: encode_batch is no faster on one core, imports awkward for its result,
    # and allocates large buffers of texts and ids for every batch.
    ids_of = tokenizer.backend.encode

    def encode(texts: list[bytes]) -> list[np.ndarray]:
        with told_of_tokenizer("this tokenizer"):
            return [ids_of(text) for text in texts]

    return encode


def first_difference(reference: Any, encode: Encoder, texts: list[str]) -> str | None:
    """Describe the first text whose ids differ from the reference's; None if all are equal."""
    found = encode([text.encode() for text in texts])
    for i, expected in enumerate(reference_ids(reference, texts)):
        got = found[i].tolist()
        if got != expected:
            place = next(
                (k for k, (x, y) in enumerate(zip(got, expected, strict=False)) if x != y),
                min(len(got), len(expected)),
            )
            return (
                f"text {i} ({texts[i][:60]!r}): id {place} is {got[place : place + 3]}, "
                f"the reference has {expected[place : place + 3]}"
            )
    return None


def encoder_of(folder: Path, setting: TokenizerFacts, reference: Any = None) -> Encoder:
    """Return the run's encoder. reference: from `load_kept`, if it is loaded already."""
    if setting.engine == "gigatoken":
        path = Path(folder) / PLAIN_FILE
        with read_as_written(path), _named(path):
            return _encoder_with(_loaded(path, lambda written: _gigatoken(written.decode("utf-8"))))
    return reference_encoder(reference or load_kept(folder, setting))
