"""The card of a corpus on the Hugging Face hub, with its metadata."""

from corpusmill.mill.report.corpus_facts import text_files_of
from corpusmill.mill.report.dataset_card import HERE
from corpusmill.mill.report.front_matter import data_files
from corpusmill.tools.publish.card import CARD
from corpusmill.tools.publish.contents import DATASET_CARD, Contents, of_bytes


def with_hub_card(contents: Contents, address: str) -> Contents:
    """Publish the dataset card of the run as the card of the repository. Results of an earlier
    corpusmill have none; their card gets the metadata that names the tables of text."""
    written = {file.name: file.data for file in contents.beside}
    if DATASET_CARD in written:
        there = f'Corpus("{address}", cache="shards")'
        card = written[DATASET_CARD].replace(HERE.encode(), there.encode())
    else:
        tables = data_files(text_files_of(contents.listing.files))
        card = "\n".join(["---", *tables, "---", "", ""]).encode() + written[CARD]
    others = [file for file in contents.beside if file.name not in (CARD, DATASET_CARD)]
    return contents._replace(beside=[of_bytes(CARD, card), *others])
