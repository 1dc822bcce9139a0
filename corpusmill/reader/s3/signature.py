"""AWS signature version 4 for S3 requests."""

import hashlib
import hmac
import urllib.parse
from collections.abc import Mapping
from datetime import datetime

from corpusmill.reader.s3.credentials import Credentials

ALGORITHM = "AWS4-HMAC-SHA256"
UNRESERVED = "-_.~"


def quoted(path: str) -> str:
    """Escape a URL path as it is sent and signed: S3 escapes once and keeps slashes."""
    return urllib.parse.quote(path, safe="/" + UNRESERVED)


def query_string(query: Mapping[str, str]) -> str:
    """Return the query in the order in which it is signed."""
    pairs = (
        tuple(urllib.parse.quote(part, safe=UNRESERVED) for part in pair) for pair in query.items()
    )
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def signed(
    method: str,
    path: str,
    query: str,
    headers: Mapping[str, str],
    credentials: Credentials,
    region: str,
    moment: datetime,
) -> dict[str, str]:
    """Return the headers with `Authorization` and those that it requires.

    path, query: as sent. headers: including `Host` and `x-amz-content-sha256`. moment: in UTC.
    """
    day, time = f"{moment:%Y%m%d}", f"{moment:%Y%m%dT%H%M%SZ}"
    more = {"x-amz-date": time}
    if credentials.token:
        more["x-amz-security-token"] = credentials.token
    said = {name.lower(): value.strip() for name, value in ({**headers, **more}).items()}
    names = ";".join(sorted(said))
    lines = [f"{name}:{said[name]}" for name in sorted(said)]
    asked = [method, path, query, *lines, "", names, said["x-amz-content-sha256"]]
    scope = f"{day}/{region}/s3/aws4_request"
    digest = hashlib.sha256("\n".join(asked).encode()).hexdigest()
    key = f"AWS4{credentials.secret}".encode()
    for word in scope.split("/"):
        key = _keyed(key, word)
    proof = _keyed(key, "\n".join([ALGORITHM, time, scope, digest])).hex()
    told = f"Credential={credentials.key}/{scope}, SignedHeaders={names}, Signature={proof}"
    return {**headers, **more, "Authorization": f"{ALGORITHM} {told}"}


def _keyed(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
