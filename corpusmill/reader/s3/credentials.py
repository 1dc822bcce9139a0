"""Credentials, region, endpoint: from the environment, or else from AWS profiles."""

import configparser
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

PROFILES = {
    "AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials",
    "AWS_CONFIG_FILE": "~/.aws/config",
}
USUAL_REGION = "us-east-1"


class Credentials:
    """Keys of an account. Their repr hides the secret."""

    __slots__ = ("key", "secret", "token")

    def __init__(self, key: str, secret: str, token: str | None) -> None:
        self.key, self.secret, self.token = key, secret, token

    def __repr__(self) -> str:
        return "Credentials(...)"


class Access(NamedTuple):
    """Credentials, region and endpoint. endpoint: None is AWS itself."""

    credentials: Credentials
    region: str
    endpoint: str | None


def load_access(where: str, endpoint: str | None) -> Access:
    """Load the current settings: credentials may be renewed during training. where: the address,
    for messages. endpoint: overrides all others."""
    profile = _profile()
    region = _first("AWS_REGION", "AWS_DEFAULT_REGION") or profile.get("region", USUAL_REGION)
    own = _first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") or profile.get("endpoint_url")
    return Access(_credentials(where, profile, region), region, endpoint or own)


def _first(*names: str) -> str | None:
    return next((value for name in names if (value := os.environ.get(name, "").strip())), None)


def is_plain(text: str) -> bool:
    """Say whether a text can be put into a header."""
    return text.isascii() and text.isprintable() and " " not in text


def _credentials(where: str, profile: Mapping[str, str], region: str) -> Credentials:
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
    key, secret, token = map(_first, names)
    if not key and not secret:
        # Never mix both: a token of the profile does not match a key of the environment.
        key, secret, token = (profile.get(name.lower(), "").strip() or None for name in names)
    if key and secret:
        if not all(map(is_plain, (key, token or "", region))):
            # Not repeated: Python would quote it in the error about the header.
            raise ValueError(
                f"{where}: expected access key, session token and region of ASCII letters, digits "
                "and signs, without spaces and line breaks, found something else. Copy them again."
            )
        return Credentials(key, secret, token)
    found = "none" if not key and not secret else "the secret" if secret else "the access key"
    raise ValueError(
        f"{where}: expected credentials in {names[0]} and {names[1]}, or in the profile "
        f"{_profile_name()!r} of {PROFILES['AWS_SHARED_CREDENTIALS_FILE']}, found {found}"
        f"{' alone' if found != 'none' else ''}. Set both."
    )


def _profile_name() -> str:
    return _first("AWS_PROFILE", "AWS_DEFAULT_PROFILE") or "default"


def _profile() -> dict[str, str]:
    """Return the profile's settings from both files; the credentials file wins."""
    name, found = _profile_name(), dict[str, str]()
    for variable, usual in reversed(PROFILES.items()):
        path = Path(os.environ.get(variable, usual)).expanduser()
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read(path, "utf-8")
        except (configparser.Error, UnicodeDecodeError):
            # Python's message quotes the line, which may be a secret.
            raise ValueError(
                f"{path}: expected [profile] sections of key = value, as `aws configure` writes "
                "them, found something else. Correct it."
            ) from None
        for section in (f"profile {name}", name):
            if parser.has_section(section):
                found |= dict(parser.items(section))
    return found
