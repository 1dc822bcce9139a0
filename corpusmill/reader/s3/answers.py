"""Responses of a store, and the meaning of its errors."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import NamedTuple

from corpusmill.reader.stores import PASSING_STATUS, PassingError

PASSING_CODES = {"SlowDown", "RequestTimeout", "OperationAborted", "ConditionalRequestConflict"}
CHANGED_CODES = {
    "BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody", "InvalidDigest", "MalformedXML",
}  # fmt: skip
"""Error codes for a body that does not match its digest, because it changed in transit."""

REASONS = {
    "NoSuchBucket": "there is no such bucket. Create it first, or correct its name.",
    "NoSuchKey": "it is missing.",
    "AccessDenied": "these credentials do not permit this request. Ask the bucket's owner.",
    "ExpiredToken": "the credentials are expired. Get new ones, and repeat the command.",
    "TokenRefreshRequired": "the credentials are expired. Get new ones.",
    "InvalidAccessKeyId": "the access key is unknown. Correct AWS_ACCESS_KEY_ID or the profile.",
    "InvalidToken": "the session token is unknown. Correct AWS_SESSION_TOKEN or the profile.",
    "SignatureDoesNotMatch": "the secret does not match the access key. Correct it.",
    "RequestTimeTooSkewed": "the clock of this machine is wrong. Correct it.",
}
OF_STATUS = {403: "AccessDenied", 404: "NoSuchKey", 412: "PreconditionFailed"}
OTHER_REGION = {"PermanentRedirect", "AuthorizationHeaderMalformed", "TemporaryRedirect"}


class Refusal(ValueError):  # noqa: N818
    """An error that a retry cannot fix."""

    def __init__(self, told: str, status: int, code: str) -> None:
        super().__init__(told)
        self.status, self.code = status, code

    def __reduce__(self) -> tuple:
        return Refusal, (str(self), self.status, self.code)


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """Headers by lower-case name."""
    body: bytes


def fault(where: str, status: int, headers: Mapping[str, str], body: bytes) -> Exception:
    """Return the exception for an error response. It quotes only the store's error code: its
    messages may repeat keys of the request."""
    code = code_of(body) or OF_STATUS.get(status, "")
    said = f"{where}: the store answered {status}" + f" {code}" * bool(code)
    if code in PASSING_CODES or code in CHANGED_CODES or status in PASSING_STATUS:
        return PassingError(said)
    region = headers.get("x-amz-bucket-region", "")
    region = region if re.fullmatch("[a-z0-9-]{1,40}", region) else "another one"
    reason = REASONS.get(code, "expected success. Look up the code in the store's documentation.")
    if not code:
        reason = "the store gives no reason. Are the credentials for this store, and still valid?"
    if code in OTHER_REGION or (status in (301, 307, 400) and "x-amz-bucket-region" in headers):
        reason = f"the bucket is in {region}. Set AWS_REGION to it, or correct the endpoint."
    return Refusal(f"{said}: {reason}", status, code)


def code_of(body: bytes) -> str:
    """Return the code of an error, which a store may send with status 200 too."""
    root = parsed(body)
    found = "" if root is None or name_of(root) != "Error" else text_of(root, "Code")
    return found if re.fullmatch(r"[A-Za-z0-9.]{1,64}", found) else ""


def parsed(body: bytes) -> ElementTree.Element | None:
    """Parse XML; None if it is malformed."""
    try:
        return ElementTree.fromstring(body)
    except (ElementTree.ParseError, ValueError, LookupError):  # or the encoding is unknown
        return None


def name_of(element: ElementTree.Element) -> str:
    """Return the name without the namespace, which some stores omit."""
    return element.tag.rpartition("}")[2]


def all_of(element: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [child for child in element if name_of(child) == name]


def text_of(element: ElementTree.Element, name: str) -> str:
    """Return the text of a child; "" if there is none."""
    return next((child.text or "" for child in all_of(element, name)), "")
