"""Write docs/reference/commands/ from the help of the commands.

Run `python -m corpusmill.cli.reference`.
"""

import argparse
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from corpusmill.cli.main import main
from corpusmill.mill.filters.reference import table_line

FOLDER = Path(__file__).parents[2] / "docs/reference/commands"
INDEX = """# Commands

This page lists all commands. `python -m corpusmill.cli.reference` generates this page and the page
of each command from `corpusmill COMMAND --help`.

- CONFIG is one or more config files; default: `corpusmill.yaml` in the current folder.
- Exit codes: 0 success, 1 failure, 2 wrong usage, 130 stopped with Ctrl-C. If a command
  has different exit codes, the page of the command lists them.

| command | what it does |
|---|---|
"""
OPTIONS = "\n| option | meaning |\n|---|---|\n"


def paragraphs(text: str) -> Iterator[str]:
    """Yield a docstring as Markdown. Paragraphs that click prints verbatim, behind \\b, become
    code."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if not paragraph.startswith("\b\n"):
            yield f"\n{paragraph}\n"
            continue
        lines = paragraph.removeprefix("\b\n").split("\n")
        if lines[0] == "Exit codes":
            yield "\n| exit code | meaning |\n|--:|---|\n"
            for line in lines[1:]:
                yield table_line(line.split(maxsplit=1))
            continue
        are_commands = all(line.startswith("corpusmill ") for line in lines)
        yield "\n" + "\n".join([f"```{'sh' * are_commands}", *lines, "```\n"])


def option_of(option: click.Option, context: click.Context) -> list[str]:
    """Return the table row of an option."""
    names, _ = option.get_help_record(context) or ("", "")
    extra = option.get_help_extra(context)
    default = "required" if option.required else extra.get("default", "")
    meaning = f"{option.help} {in_words(extra.get('range', ''))}".strip()
    return [as_code(names.replace(" RANGE", "")), f"{meaning} {default_in_words(default)}".strip()]


def in_words(limits: str) -> str:
    """Describe a range in click's notation, such as `1<=x<=9` or `x>=0`."""
    if match := re.fullmatch("(.+)<=x<=(.+)", limits):
        return f"{match[1]} to {match[2]}."
    return limits.replace("x>=", "At least ") + "." * bool(limits)


def argument_of(action: argparse.Action) -> list[str]:
    """Return the table row of an argparse option."""
    metavar = action.metavar or getattr(action.type, "__name__", "text").upper()
    default = "" if action.default is None else str(action.default)
    meaning = action.help or ""
    names = as_code(f"{action.option_strings[-1]} {metavar}")
    meaning = f"{meaning[:1].upper()}{meaning[1:]}."
    return [names, f"{meaning} {default_in_words(default)}".strip()]


def default_in_words(default: str) -> str:
    if default == "required":
        return "Required."
    return f"Default: {as_code(default)}." if default else ""


def as_code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def designer_page() -> Iterator[str]:
    """Yield the page of `designer`, which has argparse's help."""
    from corpusmill.tools.tune.bands import recommending

    parser = recommending.parser(recommending.shipped())
    yield "# designer\n\n```\ncorpusmill designer [OPTIONS] FILE...\n```\n"
    yield from paragraphs(parser.description or "")
    yield OPTIONS
    for action in parser._actions:
        if action.option_strings and action.dest != "help":
            yield table_line(argument_of(action))


def command_page(name: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=f"corpusmill {name}")
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"# {name}\n\n```\n{usage}\n```\n"
    yield from paragraphs(command.help or "")
    options = [one for one in command.params if isinstance(one, click.Option)]
    if options:
        yield OPTIONS
    for option in options:
        yield table_line(option_of(option, context))


def pages() -> dict[str, str]:
    """Return file name -> text."""
    found = {
        f"{name}.md": "".join(designer_page() if name == "designer" else command_page(name, one))
        for name, one in main.commands.items()
    }
    rows = (
        table_line([f"[{name}]({name}.md)", one.get_short_help_str(100)])
        for name, one in main.commands.items()
    )
    return {"index.md": INDEX + "".join(rows)} | found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.md"):
        file.unlink()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")
