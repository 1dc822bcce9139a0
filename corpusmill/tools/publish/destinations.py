"""Choice of the publisher for an address."""

from corpusmill.reader.hub_addresses import is_hub
from corpusmill.tools.publish.published import Publisher


def publisher_of(address: str) -> Publisher:
    if is_hub(address):
        # It imports huggingface_hub, which only this case needs.
        from corpusmill.tools.publish import hub

        return hub.publish
    from corpusmill.tools.publish import publishing

    return publishing.publish
