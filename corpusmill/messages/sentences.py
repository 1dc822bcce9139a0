"""Messages of others put together with ours."""


def sentence(text: str) -> str:
    """A text with its full stop, unless it has one."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
