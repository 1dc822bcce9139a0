"""`corpusmill publish` to an object store: the order in which files are sent."""

from functools import partial

from corpusmill.reader.opening import Latest
from corpusmill.reader.patience import Patience, Say
from corpusmill.reader.s3.addresses import check_version, parsed
from corpusmill.reader.s3.bucket import Bucket
from corpusmill.run.job_progress import phase
from corpusmill.tools.publish.contents import Contents, File, contents_of
from corpusmill.tools.publish.costs import costs_of, in_words
from corpusmill.tools.publish.published import DIGITS, Asked, Published
from corpusmill.tools.publish.sending import Sender, is_whole
from corpusmill.tools.publish.target import CLAIM, Target, other_content
from corpusmill.tools.verify.kinds import MANIFEST


def publish(asked: Asked, say: Say, patience: Patience = Patience()) -> Published:  # noqa: B008
    """Publish. Raise ValueError if something else is there or the results do not match their
    manifest; OSError if the store does not answer. Readers then see the same as before."""
    address = parsed(asked.address)
    if address.version is not None:
        raise ValueError(f"{asked.address}: expected an address without a version. Use --version.")
    contents = contents_of(asked.results, asked.address)
    version = contents.listing.sha256[:DIGITS] if asked.version is None else asked.version
    check_version(version)
    with Bucket(address.bucket, asked.endpoint) as bucket:
        target = Target(bucket, address.name, version, patience, say)
        there = target.look([file.name for file in contents.files], contents.listing.sha256)
        if asked.dry_run:
            found = whole_there(target, contents, there)
            sent = contents.bytes - sum(file.bytes for file in contents.files if file.name in found)
        else:
            found, sent = sent_whole(target, contents, there, asked.streams)
        requests = bucket.connections.requests
    costs = costs_of(contents, found, asked.prices)
    what = "would be sent" if asked.dry_run else "sent"
    return Published(
        str(address), version, contents, found, f"{sent / 1e6:,.1f} MB {what}", asked.dry_run,
        list(in_words(costs, asked.prices)),
        {"sent_bytes": sent, "requests": requests, "costs": costs._asdict()},
    )  # fmt: skip


def not_settled(contents: Contents, there: dict[str, int]) -> list[File]:
    """Return the files to compare. In an existing version, files without digests stay: they differ
    only in run times, and a version never changes."""
    settled = contents.beside if MANIFEST in there else []
    return [file for file in contents.files if file not in settled or file.name not in there]


def whole_there(target: Target, contents: Contents, there: dict[str, int]) -> set[str]:
    """Return the files that need not be sent."""
    files = not_settled(contents, there)
    found = {file.name for file in contents.files} - {file.name for file in files}
    for file in files:
        if there.get(file.name) == file.bytes:
            stored = target.patiently(partial(target.bucket.head, target.key(file.name)))
            found |= {file.name} if is_whole(file, stored) else set()
    return found


def sent_whole(
    target: Target, contents: Contents, there: dict[str, int], streams: int
) -> tuple[set[str], int]:
    """Send what is missing. Return the names of files that were there, and the bytes sent."""
    digest, bucket = contents.listing.sha256, target.bucket
    if CLAIM not in there:
        target.claim(digest)
    uploads = target.patiently(lambda: bucket.uploads(target.key("")))
    with phase(f"sending {len(contents.files):,} files", contents.bytes) as progress:
        sender = Sender(target, streams, progress)
        files = not_settled(contents, there)
        sent = sender.send_all(files, there, uploads)
    check_sizes(target, files)
    finish_version(target, contents.manifest)
    latest = Latest(target.version, digest)
    if target.latest() != latest:
        target.patiently(lambda: bucket.put(target.latest_key, latest.encoded()))
    for key, upload in target.patiently(lambda: bucket.uploads(target.key(""))):
        # Everything is complete, so uploads that others have left are not needed.
        target.patiently(partial(bucket.abort, key, upload))
    were_sent = {
        file.name: size for file, size in zip(files, sent, strict=True) if size is not None
    }
    return {file.name for file in contents.files} - were_sent.keys(), sum(were_sent.values())


def check_sizes(target: Target, files: list[File]) -> None:
    """Check all sizes before the manifest makes the version visible."""
    sizes = target.sizes()
    for file in files:
        if sizes.get(file.name) != file.bytes:
            raise OSError(
                f"{target.where(file.name)}: expected {file.bytes:,} bytes, found "
                f"{sizes.get(file.name, 'none')}. Another program is changing this file: stop "
                "that program, and repeat the command."
            )


def finish_version(target: Target, manifest: File) -> None:
    """Write the manifest and `latest`. From here on the version exists."""
    key = target.key(MANIFEST)
    target.put_once(MANIFEST, manifest.data)
    found = target.patiently(lambda: target.bucket.get(key))
    if found != manifest.data:
        raise other_content(target, manifest.sha256, "another manifest.json")
