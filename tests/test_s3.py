"""Requests to object stores: signed as AWS says, with credentials that nobody sees."""

import base64
import hashlib
import os
import pickle
import socket
import ssl
from datetime import UTC, datetime
from urllib.parse import unquote

import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.reader.s3.addresses import Address, parsed
from corpusmill.reader.s3.answers import Answer, Refusal, code_of, fault
from corpusmill.reader.s3.bucket import Bucket, composite, kind_of
from corpusmill.reader.s3.connection import (
    Connections,
    _connected,
    faults_of_the_network,
    target_of,
)
from corpusmill.reader.s3.credentials import Access, Credentials, load_access
from corpusmill.reader.s3.signature import query_string, quoted, signed
from corpusmill.reader.stores import PassingError

MOMENT = datetime(2013, 5, 24, tzinfo=UTC)
EMPTY = hashlib.sha256(b"").hexdigest()
KEYS = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", None)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home without credentials, and an environment without any."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".aws").mkdir()
    return tmp_path


# Signatures.


def test_signed__is_the_example_of_aws():
    headers = {
        "Host": "examplebucket.s3.amazonaws.com", "Range": "bytes=0-9",
        "x-amz-content-sha256": EMPTY,
    }  # fmt: skip
    got = signed("GET", "/test.txt", "", headers, KEYS, "us-east-1", MOMENT)
    assert got["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        " SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        " Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    )


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)


@examples(100)
@given(
    st.sampled_from(["GET", "PUT", "POST", "HEAD", "DELETE"]),
    TEXTS,
    st.dictionaries(TEXTS.filter(bool), TEXTS, max_size=4),
    st.none() | st.text("abc/+=", min_size=1),
)
def test_signed__equals_botocore(method, key, query, token):
    auth = pytest.importorskip("botocore.auth")
    requests = pytest.importorskip("botocore.awsrequest")
    oracle = pytest.importorskip("botocore.credentials")
    path, text = quoted(f"/bucket/{key}"), query_string(query)
    headers = {"Host": "example.org:9000", "x-amz-content-sha256": EMPTY}
    credentials = Credentials(KEYS.key, KEYS.secret, token)
    got = signed(method, path, text, headers, credentials, "eu-west-1", MOMENT)
    asked = requests.AWSRequest(method, f"https://example.org:9000{path}", headers, params=query)
    asked.headers["X-Amz-Date"] = asked.context["timestamp"] = "20130524T000000Z"
    if token:
        asked.headers["X-Amz-Security-Token"] = token
    signer = auth.S3SigV4Auth(oracle.Credentials(KEYS.key, KEYS.secret, token), "s3", "eu-west-1")
    proof = signer.signature(signer.string_to_sign(asked, signer.canonical_request(asked)), asked)
    assert got["Authorization"].endswith(f"Signature={proof}")
    assert unquote(path) == f"/bucket/{key}"


@given(st.lists(st.binary(max_size=9), min_size=1, max_size=5))
def test_composite__is_the_digest_of_the_digests(parts):
    digests = [hashlib.sha256(part).digest() for part in parts]
    expected = base64.b64encode(hashlib.sha256(b"".join(digests)).digest()).decode()
    assert composite([base64.b64encode(one).decode() for one in digests]) == (
        f"{expected}-{len(parts)}"
    )


# Who asks, and whom.


def test_credentials__of_the_environment_win_and_are_never_mixed(home, monkeypatch):
    (home / ".aws/credentials").write_text(
        "[default]\naws_access_key_id = a\naws_secret_access_key = b%\naws_session_token = c\n"
        "[other]\naws_access_key_id=x\naws_secret_access_key=y\n"
    )
    (home / ".aws/config").write_text(
        "[default]\nregion = eu-north-1\n[profile other]\nregion = eu-west-3\n"
        "endpoint_url = http://other\naws_access_key_id = not this\n"
    )

    def found() -> tuple:
        credentials, region, endpoint = load_access("s3://b/x", None)
        return credentials.key, credentials.secret, credentials.token, region, endpoint

    assert found() == ("a", "b%", "c", "eu-north-1", None)
    monkeypatch.setenv("AWS_PROFILE", "other")
    assert found() == ("x", "y", None, "eu-west-3", "http://other")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://env")
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    assert found() == ("x", "y", None, "us-west-2", "http://env")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
    with pytest.raises(ValueError, match=r"found the access key alone. Set both"):
        found()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    assert found()[:3] == ("k", "s", None)
    assert load_access("x", "http://given").endpoint == "http://given"


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "AWS_REGION"])
@pytest.mark.parametrize("value", ["hid\nden", "hid den", "hid…den"])
def test_credentials__that_fit_in_no_header_are_refused_and_not_repeated(
    name, value, home, monkeypatch
):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any … \n at all")
    load_access("s3://b/x", None)
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=r"line breaks, found something else") as refused:
        load_access("s3://b/x", None)
    assert "hid" not in str(refused.value)


def test_profile__that_is_none_is_told_without_what_is_in_it(home):
    (home / ".aws/credentials").write_text("aws_secret_access_key = hidden\n")
    with pytest.raises(ValueError, match=r"credentials: expected \[profile\]") as refused:
        load_access("s3://b/x", None)
    assert "hidden" not in str(refused.value)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("bucket", "endpoint", "host", "path"),
    [
        ("mill", None, "mill.s3.eu-west-1.amazonaws.com", ""),
        ("mill.org", None, "s3.eu-west-1.amazonaws.com", "/mill.org"),
        ("mill", "http://localhost:9000", "localhost:9000", "/mill"),
        ("mill", "https://store.org/below/", "store.org", "/below/mill"),
        ("mill", "https://store.org:443", "store.org", "/mill"),
        ("mill", "http://[::1]:9000", "[::1]:9000", "/mill"),
    ],
)
def test_target__is_where_a_bucket_is(bucket, endpoint, host, path):
    target = target_of(bucket, Access(KEYS, "eu-west-1", endpoint))
    assert (target.host_header, target.folder) == (host, path)


def test_connections__cross_processes_without_a_secret(home, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")
    there = pickle.loads(pickle.dumps(Connections("mill", "http://x")))
    assert (there.bucket, there.where("a")) == ("mill", "s3://mill/a")
    assert b"hidden" not in pickle.dumps(there)


def test_connection__goes_through_the_proxy_for_https_alone(monkeypatch):
    class Proxied(socket.socket):
        pass

    def connect(self):
        self.sock = Proxied()

    for kind in ("HTTPConnection", "HTTPSConnection"):
        monkeypatch.setattr(f"http.client.{kind}.connect", connect)
    monkeypatch.setenv("https_proxy", "http://proxy.org:3128")
    monkeypatch.setenv("no_proxy", "near.org")
    for endpoint, place, tunnel in (
        ("https://far.org", "proxy.org", "far.org"), ("https://near.org", "near.org", None),
        ("http://far.org", "far.org", None),
    ):  # fmt: skip
        connection = _connected(target_of("mill", Access(KEYS, "x", endpoint)), 30.0)
        assert (connection.host, connection._tunnel_host) == (place, tunnel)
        connection.close()


# Answers.


@pytest.mark.parametrize(
    ("status", "body", "kind", "says"),
    [
        (503, b"<Error><Code>SlowDown</Code></Error>", PassingError, "503 SlowDown"),
        (500, b"", PassingError, "answered 500"),
        (409, b"<Error><Code>ConditionalRequestConflict</Code></Error>", PassingError, "409"),
        (400, b"<Error><Code>BadDigest</Code></Error>", PassingError, "400 BadDigest"),
        (404, b'<Error xmlns="a"><Code>NoSuchBucket</Code></Error>', Refusal, "no such bucket"),
        (403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>", Refusal, "does not match"),
        (403, b"<Error><Code>RequestTimeTooSkewed</Code></Error>", Refusal, "the clock of this"),
        (403, b"", Refusal, "do not permit this request"),
        (400, b"", Refusal, "the store gives no reason"),
        (
            400,
            b"<Error><Code>repeats the keys</Code></Error>",
            Refusal,
            "the store gives no reason",
        ),
        (418, b"<Error><Code>Odd</Code></Error>", Refusal, "418 Odd: expected success. Look"),
        (400, b"<html>", Refusal, "the store gives no reason"),
    ],
)
def test_fault__is_a_sentence(status, body, kind, says):
    got = fault("s3://mill/x", status, {}, body)
    assert type(got) is kind
    assert says in str(got)
    assert "keys" not in str(got)


def test_fault__of_another_region_names_it():
    said = str(fault("s3://mill", 301, {"x-amz-bucket-region": "eu-central-1"}, b""))
    assert "the bucket is in eu-central-1. Set AWS_REGION to it" in said


def test_refusal__crosses_processes():
    there = pickle.loads(pickle.dumps(Refusal("told", 403, "AccessDenied")))
    assert (str(there), there.status, there.code) == ("told", 403, "AccessDenied")


def test_code__is_that_of_an_error_alone():
    assert code_of(b"<Error><Code>SlowDown</Code></Error>") == "SlowDown"
    assert code_of(b"<Other><Code>SlowDown</Code></Other>") == ""
    assert code_of(b"") == ""


def test_network__that_fails_is_passing_but_for_certificates():
    with pytest.raises(ValueError, match="expected a certificate that this machine trusts"):
        raise_in_network(ssl.SSLCertVerificationError("self-signed"))
    for error in (ConnectionResetError("reset"), TimeoutError(), ssl.SSLError("x")):
        with pytest.raises(PassingError, match="s3://mill/x: "):
            raise_in_network(error)


def raise_in_network(error: Exception) -> None:
    with faults_of_the_network("s3://mill/x"):
        raise error


def test_finish__that_fails_behind_a_200_is_no_success(monkeypatch):
    class Answered:
        body, headers = b"<Error><Code>InternalError</Code></Error>", {}

    bucket = Bucket("mill")
    monkeypatch.setattr(bucket.connections, "ask", lambda *_: Answered)
    with pytest.raises(PassingError, match="InternalError"):
        bucket.finish("x", "upload", [])


@pytest.mark.parametrize("body", [b"<html><body/></html>", b"no XML"])
def test_listed__takes_no_page_of_a_proxy_for_an_empty_list(monkeypatch, body):
    bucket = Bucket("b", "http://127.0.0.1:1")
    monkeypatch.setattr(bucket.connections, "ask", lambda *_: Answer(200, {}, body))
    for asked in (bucket.listed, bucket.uploads):
        with pytest.raises(PassingError, match="expected XML of an object store"):
            asked("corpus/")


@pytest.mark.parametrize("key", ["other/a", "c/versions/1/../../../other/a", "c/versions/1/.."])
def test_listed__takes_no_key_outside_the_prefix(monkeypatch, key):
    body = (
        f"<ListBucketResult><Contents><Key>{key}</Key><Size>1</Size></Contents></ListBucketResult>"
    )
    bucket = Bucket("b", "http://127.0.0.1:1")
    monkeypatch.setattr(bucket.connections, "ask", lambda *_: Answer(200, {}, body.encode()))
    with pytest.raises(ValueError, match=r"also lists .* Is the endpoint"):
        bucket.listed("c/versions/1/")


def test_kind__is_what_a_browser_shows():
    assert kind_of("a/README.md").startswith("text/markdown")
    assert kind_of("a/00000.bin") == "application/octet-stream"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://mill/web", Address("mill", "web", None)),
        ("s3://mill/a/b.c/d-e_f/", Address("mill", "a/b.c/d-e_f", None)),
        ("s3://mill/web@1.0", Address("mill", "web", "1.0")),
        ("s3://mill/web/versions/1.0", Address("mill", "web", "1.0")),
        ("s3://mill/web/versions/1.0/manifest.json", Address("mill", "web", "1.0")),
    ],
)
def test_parsed__knows_all_ways_to_write_a_corpus(text, expected):
    assert parsed(text) == expected
    assert parsed(str(expected)) == expected
