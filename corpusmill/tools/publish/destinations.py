"""Which code publishes to an address."""

from types import ModuleType

from corpusmill.reader.hub_addresses import is_hub


def publisher_of(address: str) -> ModuleType:
    """With `publish`, `told` and `as_json`."""
    if is_hub(address):
        # It imports huggingface_hub, which nobody else needs.
        from corpusmill.tools.publish import hub

        return hub
    from corpusmill.tools.publish import publishing as command

    return command
