"""Parts of URLs that blocklists name."""

import re

SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://|//")
AFTER_HOST = re.compile(r"[/?#\\]")
LONGEST = 253
"""Maximum number of characters in a DNS name."""
NO_WORD = re.compile(r"[\W_]+")


def as_ascii(host: str) -> str:
    """Return a host in lower case, without a final dot; non-ASCII hosts IDNA-encoded."""
    host = host.strip().rstrip(".").lower()
    if host.isascii() or len(host) > LONGEST:
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        # Not a DNS name, so it matches only as written.
        return host


def host_of(url: str) -> str:
    """Return the host of a URL. The scheme is optional."""
    scheme = SCHEME.match(url)
    place = AFTER_HOST.split(url[scheme.end() :] if scheme else url, maxsplit=1)[0]
    place = place.rpartition("@")[2]
    if place.startswith("["):
        return place[1:].partition("]")[0].lower()
    return as_ascii(place.partition(":")[0])


def with_parents(host: str) -> list[str]:
    """Return the host and its parent domains: a.b.org, b.org, org.

    A host that is too long for DNS gives itself and those of its parents that are not.
    """
    labels = host[-LONGEST:].split(".")
    names = [".".join(labels[n:]) for n in range(len(labels))]
    return names if len(host) <= LONGEST else [host, *names[1:]]


def words_of(url: str) -> list[str]:
    """Return the distinct runs of letters and digits."""
    return [word for word in dict.fromkeys(NO_WORD.split(url.lower())) if word]


def squeezed(url: str) -> str:
    """Return only the letters and digits."""
    return NO_WORD.sub("", url.lower())
