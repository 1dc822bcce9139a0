"""The filter `url_blocklist` against its plain twin, and what is said of wrong lists."""

import json

import naive_filters
import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.mill.filters.configured import ConfiguredFilter, configured
from corpusmill.mill.filters.documents import Documents
from corpusmill.mill.filters.features.urls import host_of, with_parents
from corpusmill.mill.read.text_column import TextColumn, string_array
from corpusmill.run.filter_faults import filter_faults

LISTS = {
    "domains": ["bad.org", "a.good.org", "evil"],
    "urls": ["https://good.org/one", "http://good.org/X?y=1#z"],
    "words": ["casino", "xxx", "été"],
    "soft_words": ["poker", "bet", "slots"],
    "subwords": ["free-money", "badword"],
}
hosts = st.lists(
    st.sampled_from(["bad", "org", "good", "a", "evil", "BAD", "notbad", "poker"]), min_size=1
)
words = st.sampled_from(
    [*"one X casino Casino poker bet slots free money badword été 1 xxx".split()]  # noqa: SIM905
)
paths = st.lists(words | st.sampled_from(["/", "-", "_", "?", "#", ".", "%20"]), max_size=8)
urls = st.builds(
    lambda scheme, user, host, port, path: f"{scheme}://{user}{'.'.join(host)}{port}/{path}",
    st.sampled_from(["http", "https", "HTTPS"]),
    st.sampled_from(["", "bad.org@", "u:p@"]),
    hosts,
    st.sampled_from(["", ":80"]),
    paths.map("".join),
) | st.sampled_from(LISTS["urls"])


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("lists")
    for name, entries in LISTS.items():
        (folder / name).write_text("# a list\n" + "\n".join(entries))
    return {name: str(folder / name) for name in LISTS}


def measured(records: list[dict], **settings) -> dict:
    rests = [json.dumps(record)[1:-1].encode() for record in records]
    batch = pa.record_batch({"rest": string_array(rests).cast(pa.large_binary())})
    documents = Documents(TextColumn.of(string_array([b""] * len(records))), batch, [])
    found = (
        ConfiguredFilter({"name": "url_blocklist", **settings})
        .measurer()
        .measure_documents(documents)
    )
    return {name: list(values) for name, values in found.items()}


@examples(600)
@given(st.lists(urls, max_size=4))
def test_url_blocklist__hits_what_its_twin_does(files, urls):
    found = measured([{"url": url} for url in urls], **files)
    expected = [naive_filters.url_hits(url, LISTS) for url in urls]
    assert found["url_list"] == [hard for hard, _ in expected]
    assert found["soft_words_found"] == [soft for _, soft in expected]


def test_url_blocklist__says_what_of_the_url_is_listed(files):
    urls = [
        "http://www.BAD.org./", "good.org/one", "https://good.org/one", "http://x.org/casino",
        "http://x.org/free_Mon-ey", "http://poker.org/bet", "http://poker.org/", "", None,
    ]  # fmt: skip
    found = measured([{"url": url} for url in urls], **files)
    assert found["reason"] == [
        "domains bad.org", None, "urls https://good.org/one", "words casino",
        "subwords freemoney", "soft_words poker bet", "soft_words poker", "no URL", "no URL",
    ]  # fmt: skip
    values = {name: np.array(column) for name, column in found.items()}
    entry = {"name": "url_blocklist", **files}
    assert ConfiguredFilter(entry).decider().drops(values).tolist() == [1, 0, 1, 1, 1, 1, 0, 0, 0]
    strict = ConfiguredFilter(entry | {"min_soft_words": 1, "missing": "drop"}).decider()
    assert strict.drops(values).tolist() == [1, 0, 1, 1, 1, 1, 1, 1, 1]


def test_url_blocklist__names_of_other_scripts_and_nested_fields(tmp_path):
    (tmp_path / "domains").write_text("Bücher.example\nxn--fsq.test\n")
    urls = ["https://xn--bcher-kva.example/", "http://shop.bücher.example", "http://例.test/"]
    settings = {"field": "meta.url", "domains": str(tmp_path / "domains")}
    found = measured([{"meta": {"url": url}} for url in urls], **settings)
    assert found["url_list"] == ["domains", "domains", "domains"]
    assert measured([{"url": urls[0]}, {"meta": 3}], **settings)["has_url"] == [False, False]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.org:80/x@b.org", "a.org"), ("//a.org/?http://b.org", "a.org"),
        ("http://[2001:DB8::1]:80/", "2001:db8::1"), ("a.org?x", "a.org"), ("", ""),
        ("http://user:p@ss@A.org", "a.org"), ("http://a.org\\@b.org/", "a.org"), ("http://", ""),
    ],
)  # fmt: skip
def test_host_of__is_the_host(url, host):
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("name", "line", "says"),
    [
        ("domains", "my domain.org", ":2: expected a domain such as example.org, no scheme"),
        ("domains", "https://bad.org", ":2: expected a domain such as example.org"),
        ("domains", "bad.org,adult", ":2: expected a domain such as example.org"),
        ("domains", "||bad.org^", ":2: expected a domain such as example.org"),
        ("domains", '"bad.org"', ":2: expected a domain such as example.org"),
        ("domains", "bad.org\0", ":2: expected a domain such as example.org"),
        ("domains", "bäd.örg;x", ":2: expected a domain such as example.org"),
        ("domains", "bad..org", ":2: expected a domain such as example.org"),
        ("urls", "http://a.org/x y", ":2: expected a URL without white space, found 'http://a"),
        ("words", "two words", ":2: expected a word of letters and digits, found 'two words'."),
        ("subwords", "---", ":2: expected a part of a word, with a letter or digit, found '---'"),
    ],
)
def test_url_blocklist__wrong_lines_are_told_before_any_job(tmp_path, name, line, says):
    (tmp_path / "list").write_text(f"# one\n{line}\nfine\n")
    entry = {"name": "url_blocklist", name: str(tmp_path / "list")}
    (fault,) = filter_faults(configured([entry]), ["web"])
    assert says in fault


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "no list is set. Set at least one of domains, urls, words, soft_words, subwords."),
        ({"domains": "none.txt"}, "there is no file none.txt. Correct its path."),
    ],
)
def test_url_blocklist__a_missing_list_is_told(settings, says):
    (fault,) = filter_faults(configured([{"name": "url_blocklist", **settings}]), ["web"])
    assert says in fault


def test_with_parents__of_a_host_that_dns_has_not_are_few():
    host = "a." * 1_000_000 + "b.org"
    found = with_parents(host)
    assert (found[0], found[-2:]) == (host, ["b.org", "org"])
    assert len(found) < 253
