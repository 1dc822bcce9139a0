"""What a URL is made of, as blocklists name it."""

import re

SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://|//")
AFTER_HOST = re.compile(r"[/?#\\]")
LONGEST = 253
"""Characters of a name of DNS."""
NO_WORD = re.compile(r"[\W_]+")


def as_ascii(host: str) -> str:
    """A host in small letters, without the dot of the root; of other scripts as DNS has it."""
    host = host.strip().rstrip(".").lower()
    if host.isascii() or len(host) > LONGEST:
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        # No name of DNS: it can only be listed as it is.
        return host


def host_of(url: str) -> str:
    """The host, of a URL without a scheme what stands first."""
    scheme = SCHEME.match(url)
    place = AFTER_HOST.split(url[scheme.end() :] if scheme else url, maxsplit=1)[0]
    place = place.rpartition("@")[2]
    if place.startswith("["):
        return place[1:].partition("]")[0].lower()
    return as_ascii(place.partition(":")[0])


def with_parents(host: str) -> list[str]:
    """The host and the domains that it is in: a.b.org, b.org, org; of one that is longer than a
    name of DNS, itself and those that are not."""
    labels = host[-LONGEST:].split(".")
    names = [".".join(labels[n:]) for n in range(len(labels))]
    return names if len(host) <= LONGEST else [host, *names[1:]]


def words_of(url: str) -> list[str]:
    """What stands between characters that are no letters and no digits, each once."""
    return [word for word in dict.fromkeys(NO_WORD.split(url.lower())) if word]


def squeezed(url: str) -> str:
    """Its letters and digits alone."""
    return NO_WORD.sub("", url.lower())
