"""`corpusmill publish` to a dataset repository of the Hugging Face hub: one commit, then a tag."""

from collections.abc import Iterator
from typing import NamedTuple

from corpusmill.messages.sentences import sentence
from corpusmill.reader.hub_addresses import BRANCH, HubAddress, parsed_hub, token
from corpusmill.reader.hub_store import HubStore
from corpusmill.reader.patience import Attempts, Patience, Say, patiently
from corpusmill.reader.s3.addresses import check_version
from corpusmill.run.job_progress import phase
from corpusmill.tools.publish.card import CARD
from corpusmill.tools.publish.contents import BESIDE, Contents, File, contents_of
from corpusmill.tools.publish.hub_card import with_hub_card
from corpusmill.tools.publish.hub_repository import (
    Refs,
    RefusalError,
    Repository,
    is_held,
)
from corpusmill.tools.publish.published import DIGITS, Asked, Published
from corpusmill.tools.verify.findings import Findings, NoCorpusError
from corpusmill.tools.verify.kinds import MANIFEST
from corpusmill.tools.verify.listing import Listing, read_listing
from corpusmill.tools.verify.locations import RemotePlace

ATTRIBUTES = ".gitattributes"
BATCH_FILES, BATCH_BYTES = 64, 1 << 30
"""Size of a batch, which is hashed and then sent while it is cached in memory."""
MOST_FILES = 25_000
"""Maximum number of files in a commit that huggingface_hub supports."""


class There(NamedTuple):
    """The state of a repository. refs: None if it does not exist; whole: names of unchanged files
    on its main branch; going: files of an older corpus."""

    refs: Refs | None
    whole: set[str]
    going: list[str]

    @property
    def parent(self) -> str | None:
        return self.refs.head if self.refs else None


def publish(asked: Asked, say: Say, patience: Patience = Patience()) -> Published:  # noqa: B008
    """Publish. Raise ValueError if something else is there or the results do not match their
    manifest; OSError if the hub does not answer. In both cases the main branch is unchanged."""
    address = checked(asked)
    found = token()
    if found is None:
        raise ValueError(
            f"{address}: expected a token with write access to the Hugging Face hub, found none. "
            "Set HF_TOKEN, or log in: hf auth login"
        )
    contents = with_hub_card(contents_of(asked.results, str(address)), str(address))
    version = contents.listing.sha256[:DIGITS] if asked.version is None else asked.version
    check_tag(version)
    if len(contents.all_files) > MOST_FILES:
        raise ValueError(
            f"{asked.results}: expected at most {MOST_FILES:,} files, the limit of a commit to the "
            f"hub, found {len(contents.all_files):,}. Raise output.shard_bytes and mill again, "
            "or publish the corpus to an object store."
        )
    repository = Repository(address, found, asked.streams, patience, say)
    target = HubTarget(repository, address, contents, version, patience, say)
    there = target.look()
    missing = sum(file.bytes for file in contents.all_files if file.name not in there.whole)
    commit = None if asked.dry_run else target.bring(there)
    plan = [f"{'':>16}  to go    {name}" for name in there.going]
    if there.refs is None:
        plan.append(f"{address}: this repository does not exist; a private one would be created")
    what = "would be sent at most" if asked.dry_run else "were missing"
    return Published(
        str(address), version, contents, there.whole, f"{missing / 1e6:,.1f} MB {what}",
        asked.dry_run, plan, {"commit": commit, "missing_bytes": missing, "going": there.going},
    )  # fmt: skip


def checked(asked: Asked) -> HubAddress:
    address = parsed_hub(asked.address)
    if address.version is not None:
        raise ValueError(f"{asked.address}: expected an address without a version. Use --version.")
    if asked.endpoint is not None or asked.prices:
        raise ValueError(
            f"{asked.address}: expected no --endpoint-url and no --price, which only s3 has. "
            "To use a different hub, set HF_ENDPOINT."
        )
    return address


def check_tag(version: str) -> None:
    check_version(version)
    if version == BRANCH or ".." in version or version.endswith((".", ".lock")):
        raise ValueError(
            f"version {version!r}: expected a valid tag name: not {BRANCH}, without two dots in a "
            "row, not ending with a dot or .lock. Choose another name."
        )


def complete(contents: Contents, whole: set[str]) -> bool:
    """Say whether all files with digests are there. The others differ only in run times, and may
    have been edited on the hub."""
    return {file.name for file in [*contents.listed, contents.manifest]} <= whole


class HubTarget(NamedTuple):
    """One version of one corpus in a repository."""

    repository: Repository
    address: HubAddress
    contents: Contents
    version: str
    patience: Patience
    say: Say

    # Looking.

    def look(self) -> There:
        """Return the state. Raise ValueError if something else than this version of a published
        corpus is there."""
        refs = self.repository.refs()
        if refs is not None and self.version in refs.tags:
            self.check_tagged(refs.tags[self.version])
        if refs is None or refs.head is None:
            return There(refs, set(), [])
        tree = self.repository.tree(refs.head)
        old = self.listing(refs.head) if MANIFEST in tree else None
        known = {ATTRIBUTES, CARD}
        known |= {MANIFEST, *BESIDE, *old.files} if old else set()
        if strange := tree.keys() - known:
            raise ValueError(
                f"{self.address}: expected a new repository or a published corpus, found "
                f"{min(strange)}. Choose a different name, or delete that file."
            )
        files = self.contents.all_files
        whole = {file.name for file in files if is_held(file, tree.get(file.name))}
        going = tree.keys() - {file.name for file in files} - {ATTRIBUTES}
        if complete(self.contents, whole):
            going = set()
        return There(refs, whole, sorted(going))

    def check_tagged(self, commit: str) -> None:
        ours = self.contents.listing.sha256
        found = self.listing(commit).sha256
        if found != ours:
            raise ValueError(
                f"{self.address}@{self.version}: expected the corpus with manifest "
                f"{ours[:DIGITS]}, found one with {found[:DIGITS]}. Published versions never "
                "change: choose a different --version."
            )

    def listing(self, commit: str) -> Listing:
        """Return the listing of a commit's manifest. Raise ValueError if it is not ours."""
        address, findings = HubAddress(self.address.repository, commit), Findings()
        try:
            found = read_listing(RemotePlace(HubStore(address), self.say, self.patience), findings)
        except NoCorpusError as error:
            raise ValueError(f"{error} You can also publish under a different name.") from None
        if findings.damages:
            raise ValueError(
                f"{address}: expected the manifest of a published corpus, found "
                f"{sentence(findings.damages[0].what)} Choose a different name or --version."
            )
        return found

    # Changing.

    def bring(self, there: There) -> str:
        """Return the commit of the version, made if needed."""
        if there.refs is None:
            self.repository.create()
            there = self.look()
        commit = there.parent
        if commit is None or not complete(self.contents, there.whole):
            commit = self.committed(there)
        if there.refs and self.version in there.refs.tags:
            return there.refs.tags[self.version]
        if not self.repository.tag(self.version, commit):
            refs = self.repository.refs()
            assert refs
            self.check_tagged(refs.tags[self.version])
            return refs.tags[self.version]
        return commit

    def committed(self, there: There) -> str:
        """Commit all of it to the main branch, on top of the commit that was inspected."""
        missing = [file for file in self.contents.all_files if file.name not in there.whole]
        additions = []
        with phase(f"sending {len(missing):,} files", sum(f.bytes for f in missing)) as progress:
            for batch in batches(missing):
                additions += self.repository.send(batch)
                progress.advance(sum(file.bytes for file in batch))
        message = f"corpusmill: version {self.version}, manifest {self.contents.listing.sha256}"

        def commit() -> str:
            refs = self.repository.refs()
            if refs is None or refs.head == there.parent:
                return self.repository.commit(additions, there.going, there.parent, message)
            # The response was lost, or someone else committed meanwhile: the same, or something
            # else.
            now = self.look()
            if now.parent is None or not complete(self.contents, now.whole):
                raise ValueError(
                    f"{self.address}: expected an unchanged main branch, found a commit by "
                    "somebody else. That commit is kept: repeat the command to add yours."
                )
            return now.parent

        try:
            found = patiently(commit, Attempts(self.patience, self.say))
        except RefusalError as refusal:
            if refusal.status not in (409, 412):
                raise
            found = patiently(commit, Attempts(self.patience, self.say))
        tree = self.repository.tree(found)
        for file in [*self.contents.listed, self.contents.manifest]:
            if not is_held(file, tree.get(file.name)):
                raise OSError(
                    f"{self.address}, commit {found}: expected {file.name} as uploaded, found "
                    "other content. The version is not tagged: repeat the command."
                )
        return found


def batches(files: list[File]) -> Iterator[list[File]]:
    """Yield the files in order, in batches of at least one."""
    batch: list[File] = []
    size = 0
    for file in files:
        if batch and (len(batch) == BATCH_FILES or size + file.bytes > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.bytes
    if batch:
        yield batch
