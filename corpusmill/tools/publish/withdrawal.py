"""`corpusmill unpublish`: deletes a version, its manifest first."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from corpusmill.messages.plain_text import json_text
from corpusmill.reader.hub_addresses import is_hub, parsed_hub
from corpusmill.reader.patience import Patience, Say
from corpusmill.reader.s3.addresses import check_version, parsed
from corpusmill.reader.s3.bucket import Bucket
from corpusmill.run.job_progress import phase
from corpusmill.tools.publish.published import STREAMS
from corpusmill.tools.publish.target import CLAIM, Target
from corpusmill.tools.verify.kinds import MANIFEST


def not_taken_away(address: str) -> ValueError:
    """Return the error for a version of a repository, which is a tag in git's history."""
    name = parsed_hub(address).repository
    return ValueError(
        f"{address}: expected s3://bucket/name, as the hub itself keeps the history of a "
        f"repository. Delete a tag with `hf repos tag delete {name} VERSION --repo-type dataset`; "
        "the files stay in the history until you rewrite the history or delete the repository on "
        "the hub."
    )


class Asked(NamedTuple):
    """The arguments of the command. latest: delete the latest version too, if it is the only
    one."""

    address: str
    version: str
    latest: bool
    endpoint: str | None
    dry_run: bool


class Withdrawn(NamedTuple):
    address: str
    version: str
    keys: list[str]
    """In the order of deletion."""
    bytes: int
    dry_run: bool


def unpublish(asked: Asked, say: Say, patience: Patience = Patience()) -> Withdrawn:  # noqa: B008
    """Delete a version. Raise ValueError if it does not exist, or is the latest."""
    if is_hub(asked.address):
        raise not_taken_away(asked.address)
    address = parsed(asked.address)
    if address.version is not None:
        raise ValueError(f"{asked.address}: expected an address without a version. Use --version.")
    check_version(asked.version)
    with Bucket(address.bucket, asked.endpoint) as bucket:
        target = Target(bucket, address.name, asked.version, patience, say)
        sizes = target.sizes()
        if CLAIM not in sizes:
            raise ValueError(
                f"{target.where()}: expected a version from `corpusmill publish`, found "
                f"{'something else' if sizes else 'nothing'}. Correct the address or --version."
            )
        keys = going_keys(target, sizes, asked.latest)
        if not asked.dry_run:
            remove(target, keys)
    return Withdrawn(str(address), asked.version, keys, sum(sizes.values()), asked.dry_run)


def going_keys(target: Target, sizes: dict[str, int], latest: bool) -> list[str]:
    """Return the keys in order of deletion: after the first, no reader opens the version; after the
    last, nothing is left."""
    first = [target.key(MANIFEST)] if MANIFEST in sizes else []
    between = [target.key(name) for name in sorted(sizes) if name not in (MANIFEST, CLAIM)]
    named = target.latest()
    if named is not None and named.version == target.version:
        folder = target.bucket.where(f"{target.name}/versions/")
        found = target.patiently(
            partial(target.bucket.listed, f"{target.name}/versions/", here_alone=True)
        )
        others = len(found.folders) - 1
        if others or not latest:
            way = (
                "first publish a different version, or publish one of the other versions again"
                if others
                else "add --latest; then no version is left"
            )
            raise ValueError(
                f"{target.where()}: expected a version that is not the latest, found the latest "
                f"version in {folder} ({others + 1} in all). To delete it, {way}."
            )
        first = [target.latest_key, *first]
    return [*first, *between, target.key(CLAIM)]


def remove(target: Target, keys: list[str]) -> None:
    bucket = target.bucket
    first = [key for key in keys if key in (target.latest_key, target.key(MANIFEST))]
    for key in first:
        target.patiently(partial(bucket.remove, key))
    for key, upload in target.patiently(partial(bucket.uploads, target.key(""))):
        target.patiently(partial(bucket.abort, key, upload))
    with phase("removing", len(keys), "files") as progress, ThreadPoolExecutor(STREAMS) as pool:
        between = keys[len(first) : -1]
        try:
            for _ in pool.map(lambda key: target.patiently(partial(bucket.remove, key)), between):
                progress.advance(1)
        except BaseException:
            target.stop()
            raise
    target.patiently(partial(bucket.remove, keys[-1]))


def told(done: Withdrawn) -> Iterator[str]:
    if done.dry_run:
        yield from done.keys
    what = "would go" if done.dry_run else "are gone"
    size = f"{len(done.keys):,} files, {done.bytes / 1e6:,.1f} MB"
    yield f"{done.address}@{done.version}: {size} {what}"


def as_json(done: Withdrawn) -> str:
    return json_text({"corpusmill.unpublish": 1, **done._asdict()})
