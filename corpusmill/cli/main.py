"""`corpusmill`: from a folder of text to training-ready tokens.

Each command is a few lines here and a module beside this one. Commands import their own modules
when called, so that --help and shell completion are fast.
"""

import contextlib
import functools
import math
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import click
from click.shell_completion import CompletionItem

import corpusmill
from corpusmill.messages.plain_text import json_text, shown_json, shown_lines, told_lines
from corpusmill.mill.storage.untrusted import read_as_written

CONFIG = Path("corpusmill.yaml")
"""Default config file: written by `init`, read by the other commands."""

LEAST_TEXT_BYTES = 1 << 20
"""Minimum free disk space for a run, however small its corpus."""


def echo(said: object, in_json: bool = False, err: bool = False) -> None:
    """Print a line, with control characters from file names and texts escaped."""
    plain = shown_json if in_json else told_lines if err else shown_lines
    click.echo(plain(str(said)), err=err)


class Commands(click.Group):
    """Commands, listed in the order of use."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except click.ClickException as error:
            error.message = told_lines(error.message)  # type: ignore[misc] # for good: it ends here
            raise


class Preset(click.ParamType):
    name = "NAME"

    def convert(
        self, value: str, param: click.Parameter | None, context: click.Context | None
    ) -> Path:
        from corpusmill.run.presets import preset_file

        try:
            return preset_file(value)
        except ValueError as error:
            self.fail(str(error), param, context)

    def shell_complete(
        self, context: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from corpusmill.run.presets import preset_files

        return [CompletionItem(name) for name in preset_files() if name.startswith(incomplete)]


def config_argument(command: Callable) -> Callable:
    """Add the arguments for config files and presets. The command gets `configs`: first the
    presets, then the files, which override them."""

    @functools.wraps(command)
    def of_both(
        *arguments: Any, presets: tuple[Path, ...], configs: tuple[Path, ...], **given: Any
    ) -> Any:
        if presets:
            configs = (*presets, *configs_or_default(configs))
        return command(*arguments, configs=configs, **given)

    of_files = click.argument(
        "configs",
        metavar="[CONFIG]...",
        nargs=-1,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
    )
    of_presets = click.option(
        "--preset", "presets", multiple=True, type=Preset(),
        help="Preset with published settings to start from; `corpusmill presets` lists all "
        "presets. Repeatable.",
    )  # fmt: skip
    return of_files(of_presets(of_both))


def as_named(configs: Sequence[Path]) -> list[str]:
    """Return config files and presets as written on the command line."""
    from corpusmill.run.presets import preset_folder

    named: list[str] = []
    for path in configs:
        is_preset = path.parent == preset_folder() and path.is_absolute()
        named += ["--preset", path.stem] if is_preset else [str(path)]
    return named


def configs_or_default(configs: Sequence[Path]) -> list[Path]:
    """Return the config files that were given, or else corpusmill.yaml in this folder."""
    if not configs and not CONFIG.exists():
        raise click.UsageError(
            f"there is no {CONFIG} in this folder. Write one with corpusmill init DATA..., or name "
            "a config file. To see the bundled demo: corpusmill demo"
        )
    return list(configs) or [CONFIG]


def say_what_is_replaced(configs: Sequence[Path]) -> None:
    from corpusmill.run.config_files import replaced_lists

    for notice in replaced_lists(configs):
        echo(f"NOTE: {notice}", err=True)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Without corpusmill run, Snakemake can run the same workflow: snakemake -s $(corpusmill "
    "where) --configfile CONFIG --cores N",
)
@click.version_option(corpusmill.__version__, prog_name="corpusmill")
def main() -> None:
    """Turn raw text into deduplicated, decontaminated, shuffled and tokenized text.

    \b
    corpusmill init data/       write corpusmill.yaml for the files in data/
    corpusmill check            find what would make a run fail
    corpusmill run              run all steps that are not done yet
    """


@main.command()
@click.argument(
    "data", metavar="DATA...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "-o", "--output", default=CONFIG, show_default=True, type=click.Path(path_type=Path),
    help="Config file to write; an existing file is never replaced.",
)  # fmt: skip
@click.option(
    "--tokenizer", default="train", show_default=True, metavar="FOLDER|ID|train",
    help="Folder or Hugging Face id of a tokenizer. train: train a tokenizer on this corpus.",
)  # fmt: skip
def init(data: tuple[Path, ...], output: Path, tokenizer: str) -> None:
    """Write a config file for your data.

    DATA is one or more files or folders. Each file, and each subfolder of a folder, becomes a
    source. The command detects the text field from the first records and the end-of-text token from
    the tokenizer. Files of unsupported formats are left out and listed.
    """
    from corpusmill.cli.init import config_for
    from corpusmill.run.job_progress import phase

    try:
        with told_how_far(), phase("looking at the files"):
            written, unsure = config_for(list(data), output, tokenizer)
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    echo(written)
    for doubt in unsure:
        echo(f"not sure: {doubt}", err=True)
    echo(f"Wrote {output}. Next: corpusmill check {output}", err=True)


@main.command()
@config_argument
def check(configs: tuple[Path, ...]) -> None:
    """Find problems that would make a run fail, without starting a run.

    Checks the configuration, input files and their first records, the tokenizer and the disk. A run
    starts with the same checks. Exit code 1 if a run would fail.
    """
    from corpusmill.cli.check import checked
    from corpusmill.run.job_progress import phase

    with told_how_far(), phase("checking"):
        facts, faults = checked(configs_or_default(configs))
    for fact in facts:
        echo(told_lines(fact))
    for fault in faults:
        echo(fault, err=True)
    if faults:
        echo(f"{len(faults)} to fix.", err=True)
        sys.exit(1)
    say_what_is_replaced(configs)
    echo(f"Ready: {shlex.join(['corpusmill', 'run', *as_named(configs)])}")


@main.command()
def presets() -> None:
    """List the presets: published settings for --preset NAME."""
    from corpusmill.run.presets import preset_files, preset_folder, what_it_is

    width = max(map(len, preset_files()))
    for name, file in preset_files().items():
        echo(f"{name:{width}}  {what_it_is(file)}")
    echo(f"The files are in {preset_folder()}", err=True)


class Cores(click.ParamType):
    name = "N|all"

    def convert(
        self, value: str, param: click.Parameter | None, context: click.Context | None
    ) -> str:
        if value != "all" and not (value.isdecimal() and int(value)):
            self.fail(f"expected all or a number of at least 1, got {value}", param, context)
        return value


def run_options(command: Callable) -> Callable:
    """Add the options that `run` and `demo` share."""
    for option in (
        click.option(
            "--cores",
            default="all",
            show_default=True,
            type=Cores(),
            help="Number of processors to use.",
        ),
        click.option(
            "-n",
            "--dry-run",
            is_flag=True,
            help="Only show which jobs would run and how long the run would take.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Show nothing until the end."),
        click.option("-v", "--verbose", is_flag=True, help="Show all output of Snakemake."),
    ):
        command = option(command)
    return command


class WithSnakemake(click.Command):
    """A command that passes everything after `--` to Snakemake."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        own, more = args, []
        if "--" in args:
            at = args.index("--")
            own, more = args[:at], args[at + 1 :]
        context.meta["snakemake"] = more
        return super().parse_args(context, own)

    def collect_usage_pieces(self, context: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(context), "[-- SNAKEMAKE OPTIONS]"]


@main.command(cls=WithSnakemake)
@config_argument
@run_options
@click.option("--unlock", is_flag=True, help="Remove the lock that a killed run left behind.")
@click.pass_context
def run(
    context: click.Context,
    configs: tuple[Path, ...],
    cores: str,
    dry_run: bool,
    quiet: bool,
    verbose: bool,
    unlock: bool,
) -> None:
    """Run all steps that are not done yet.

    Results go to results/ and logs to logs/ in the current folder. Ctrl-C stops the run; the same
    command resumes it. Later config files override earlier ones.

    Options after -- are passed to Snakemake:

    \b
    corpusmill run -- --profile profiles/slurm
    corpusmill run -- --resources mem_mb=16000 --keep-going
    """
    from corpusmill.cli.running import unlocked

    if unlock:
        said, well = unlocked()
        echo(said, err=True)
        sys.exit(not well)
    started(context, configs_or_default(configs), cores, dry_run, quiet, verbose)


@main.command(cls=WithSnakemake)
@run_options
@click.pass_context
def demo(context: click.Context, cores: str, dry_run: bool, quiet: bool, verbose: bool) -> None:
    """Run the bundled demo in the current folder.

    The demo corpus is made from Python's standard library. The demo takes half a minute and needs
    neither a network connection nor a config file.
    """
    started(context, [], cores, dry_run, quiet, verbose)


def started(
    context: click.Context,
    configs: list[Path],
    cores: str,
    dry_run: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run Snakemake and exit with its exit code."""
    more = ["--cores", cores, *context.meta["snakemake"]]
    if dry_run:
        _refuse_full_disk()
        sys.exit(shown(configs, more, is_raw=verbose or bool(context.meta["snakemake"])))
    from corpusmill.run.announcement import announced
    from corpusmill.run.disk import unwritable

    began = time.monotonic()
    if faults := unwritable(Path("logs")):
        raise click.ClickException(faults[0])
    # First, so that `watch` does not show the previous run.
    with announced(more) as run:
        try:
            _refuse_full_disk()
            from corpusmill.cli.running import snakemake_command, unwatched, watched

            command = snakemake_command(configs, more)
            if verbose:
                _refuse_config(configs, more)
                sys.exit(unwatched(command, run.name))
            check = partial(_check_config, configs, more)
            code, seen = watched(command, quiet, run, began, check)
        except click.ClickException as error:
            run.reason = error.message
            raise
        if code == 0:
            from corpusmill.cli.result import result

            echo(result(seen))
        sys.exit(code)


def shown(configs: list[Path], options: list[str], is_raw: bool) -> int:
    """Show what a run would do and return the exit code. options: for Snakemake. is_raw: show
    Snakemake's own output."""
    from corpusmill.cli import dry_run
    from corpusmill.cli.check import planned
    from corpusmill.cli.running import snakemake_command, unwatched, watched
    from corpusmill.run.announcement import Told
    from corpusmill.run.job_progress import phase

    command = snakemake_command(configs, [*options, "--dry-run"])
    if is_raw:
        _refuse_config(configs, options)
        return unwatched([*command, "--quiet", "rules"])
    check = partial(_check_config, configs, options)
    with told_how_far(), phase("reading the workflow"):
        code, seen = watched(command, quiet=True, told=Told(""), check=check)
    if code == 0:
        _, layout = planned(configs)
        for line in dry_run.table(seen.counts, layout.inputs.text_bytes, count_of(options[1])):
            echo(line)
    return code


def count_of(cores: str) -> int:
    """Return the number of processors that --cores stands for."""
    return len(os.sched_getaffinity(0)) if cores == "all" else int(cores)


class PlainError(click.ClickException):
    """An error with a complete message, printed without a prefix."""

    def show(self, file: IO[Any] | None = None) -> None:
        echo(self.message, err=True)


def _refuse_full_disk() -> None:
    """Refuse a full disk before Snakemake writes its lock."""
    from corpusmill.run.disk import disk_faults

    if faults := disk_faults(LEAST_TEXT_BYTES, Path("results")):
        raise click.ClickException(faults[0])


def _check_config(configs: list[Path], options: list[str]) -> None:
    """Refuse invalid config files, and report which lists they replace."""
    _refuse_config(configs, options)
    say_what_is_replaced(configs)  # Snakemake reports it too, if its output is shown


def _refuse_config(configs: list[Path], options: list[str]) -> None:
    """Report at once what Snakemake would report only after a second or two. options: for
    Snakemake."""
    from corpusmill.cli.check import checked_config

    if configs and not any(option.startswith("--config") for option in options):
        try:
            with told_how_far():
                checked_config(configs)
        except ValueError as error:
            raise PlainError(str(error)) from error


@main.command()
@click.argument(
    "folder", default=Path("."), type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--json", "in_json", is_flag=True, help="Print the current state as JSON and exit.")
def watch(folder: Path, in_json: bool) -> None:
    """Show the progress of a run until it ends.

    FOLDER is the folder in which the run was started; default: the current folder. The command only
    reads files, so it also works in a different terminal, on a different machine, or after the run.
    Ctrl-C stops this command but not the run. Exit code 0 if the run succeeded.
    """
    from corpusmill.cli import watch as command

    try:
        with read_as_written(folder):
            if in_json:
                echo(command.as_json(folder), in_json)
            else:
                sys.exit(command.watch(folder))
    except KeyboardInterrupt:
        sys.exit(130)
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error


@main.command()
@click.argument("place", metavar="[DIR]", default="results")
@click.option("--deep", is_flag=True, help="Also check that the contents of different files agree.")
@click.option("--json", "in_json", is_flag=True, help="Print all findings as JSON.")
def verify(place: str, deep: bool, in_json: bool) -> None:
    """Check a finished corpus against its manifest.

    DIR is a results folder (default: results), an export, a web address (https://...) or a
    published corpus (s3://bucket/name, hf://org/name). Exports in a results folder are checked too.
    The command reads every file and compares its SHA-256 with the manifest. The command writes
    nothing. For each damaged file, it prints how to restore the file.

    With --deep, the command also compares the content of files: documents and tokens must match the
    index, placements, ledger and summary, and decoded tokens must match the text.

    \b
    Exit codes
      0  intact
      1  damaged: a file is missing or changed, or two files contradict each other
      2  not checked: the manifest is missing or has an unknown version, or a file is unreadable
    """
    from corpusmill.tools.verify import verifying as command
    from corpusmill.tools.verify.findings import UnreachableError
    from corpusmill.tools.verify.locations import place_of

    with told_how_far() as say:
        try:
            with read_as_written(place, UnreachableError):
                done = command.verified(place_of(place, say), deep)
        except (ValueError, UnreachableError, OSError) as error:
            # A folder or bucket without list permission is not damaged.
            raise CouldNotLookError(str(error)) from error
    echo(command.as_json(done) if in_json else "\n".join(command.in_words(done)), in_json)
    sys.exit(done.findings.code)


endpoint_option = click.option(
    "--endpoint-url", "endpoint", metavar="URL",
    help="URL of the S3 store; default: AWS_ENDPOINT_URL, else the URL in the AWS profile, else "
    "AWS itself.",
)  # fmt: skip


finished_argument = click.argument(
    "results", metavar="[DIR]", default=Path("results"),
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)  # fmt: skip


@main.command()
@finished_argument
@click.option(
    "--try", "configs", metavar="CONFIG", multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Config file with a different mixture: show what it would give with the documents of this "
    "run. Repeatable.",
)  # fmt: skip
@click.option(
    "--write", "ratios", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="Write the reached shares as a table of ratios (CSV), which mixture.shares can read.",
)  # fmt: skip
@click.option(
    "--page", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="Write an HTML page with pictures.",
)  # fmt: skip
@click.option("--json", "in_json", is_flag=True, help="Print all cells as JSON.")
def mixture(results: Path, in_json: bool, **given: Any) -> None:
    """Show the mixture of a finished run.

    DIR is a results folder; default: results. For each cell, the command shows its documents and
    their size, the wanted and the reached size, and how often its documents are used. With --try,
    it answers for a different mixture within seconds, without a run.
    """
    from corpusmill.tools.tune.mixture import showing as command

    try:
        with read_as_written(results):
            echo(command.shown(results, in_json, **given), in_json)
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error


@main.command()
@finished_argument
@click.option(
    "--tokens", required=True, metavar="N", type=click.FloatRange(1, 1e15),
    help="Tokens of the proxy, such as 1e8.",
)  # fmt: skip
@click.option(
    "--out", default=Path("proxy"), show_default=True, metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path), help="Folder for the lists.",
)  # fmt: skip
@click.option(
    "--split", default="train", show_default=True, metavar="SPLIT", help="Split or stage to shrink."
)
@click.option(
    "--try", "configs", metavar="CONFIG", multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Config file with a mixture: write a proxy of that mixture of this corpus's documents. "
    "Repeatable.",
)  # fmt: skip
@click.option(
    "--ratios", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Table of ratios (CSV): write a proxy per row. Other keys of the mixtures are those of "
    "--try, or of the run.",
)  # fmt: skip
@click.option(
    "--target-tokens", "target", metavar="N", type=click.FloatRange(1, 1e15),
    help="Tokens of the training that the proxies of --try and --ratios stand for; default: "
    "mixture.budget.",
)  # fmt: skip
@click.option("--json", "in_json", is_flag=True, help="Print the description as JSON.")
def shrink(results: Path, in_json: bool, **given: Any) -> None:
    """Write small proxies of a corpus with the same mixture and the same repetition.

    DIR is a results folder; default: results. A proxy is a list of documents and of how often each
    is read. The reader applies it to the shards of the corpus, so nothing is copied. Without --try
    and --ratios, the proxy stands for the corpus itself.
    """
    from corpusmill.tools.tune.shrink import shrinking as command

    try:
        with read_as_written(results):
            echo(command.shrunk(results, in_json, **given), in_json)
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error


@main.command()
@click.argument("results", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.argument("address", metavar="ADDRESS")
@click.option(
    "--version",
    metavar="V",
    help="Name of the version; default: the first digits of the manifest's checksum.",
)
@click.option(
    "-n",
    "--dry-run",
    is_flag=True,
    help="Only show which files would be uploaded and which the store already has.",
)
@endpoint_option
@click.option(
    "--price", "prices", multiple=True, metavar="WHAT=NUMBER",
    help="Price for the cost estimate of --dry-run. WHAT is month (per GB stored for a month), "
    "read (per GB downloaded), writes or reads (per 1,000 requests). Repeatable.",
)  # fmt: skip
@click.option("--json", "in_json", is_flag=True, help="Print the result as JSON.")
def publish(prices: tuple[str, ...], in_json: bool, **given: Any) -> None:
    """Upload a finished corpus as an immutable version.

    The version becomes visible only after all files are uploaded and verified. If an upload is
    interrupted, the same command resumes it.

    \b
    corpusmill publish results s3://bucket/name
    corpusmill verify s3://bucket/name
    corpusmill publish results hf://org/name     # a dataset of the Hugging Face hub
    """
    from corpusmill.tools.publish.costs import prices_of
    from corpusmill.tools.publish.published import Asked, as_json, publisher_of, told

    publish_there = publisher_of(given["address"])
    stopped = "Stopped. Readers are not affected. Run the command again to resume."
    with speaking(stopped) as say, read_as_written(given["results"]):
        done = publish_there(Asked(prices=prices_of(prices), **given), say)
    echo(as_json(done) if in_json else "\n".join(told(done)), in_json)


@main.command()
@click.argument("address", metavar="s3://BUCKET/NAME")
@click.option("--version", required=True, metavar="V", help="Version to delete.")
@click.option(
    "--latest", is_flag=True, help="Allow deleting the latest version if no other version exists."
)
@click.option("-n", "--dry-run", is_flag=True, help="Only list what would be deleted.")
@endpoint_option
@click.option("--json", "in_json", is_flag=True, help="Print the result as JSON.")
def unpublish(in_json: bool, **given: Any) -> None:
    """Delete a published version.

    The manifest of the version is deleted first. The latest version cannot be deleted while other
    versions exist: publish a new version first.
    """
    from corpusmill.tools.publish import withdrawal as command

    with speaking("Stopped. Run the command again to resume.") as say:
        done = command.unpublish(command.Asked(**given), say)
    echo(command.as_json(done) if in_json else "\n".join(command.told(done)), in_json)


@main.command()
@config_argument
@click.option(
    "--parts",
    default=3,
    show_default=True,
    type=click.IntRange(0),
    help="Number of parts to rebuild.",
)
@click.option(
    "--shards",
    default=3,
    show_default=True,
    type=click.IntRange(0),
    help="Number of shards to rebuild.",
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of the sample."
)
@click.option(
    "--results", default=Path("results"), show_default=True, type=click.Path(path_type=Path),
    metavar="DIR", help="Results of a finished run.",
)  # fmt: skip
@click.option(
    "--scratch", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder in which to create the temporary folder; default: the system's temporary folder.",
)  # fmt: skip
@click.option("--json", "in_json", is_flag=True, help="Print all findings as JSON.")
def prove(configs: tuple[Path, ...], in_json: bool, **options: Any) -> None:
    """Rebuild a sample of a finished corpus and compare it byte for byte.

    Rebuilds some parts (all steps from input to ledger) and some shards (text and tokens), spread
    evenly over sources and splits. Also packs the rows of these splits again (output.pack).
    Rebuilding a shard needs all input files. The command does not change the results. The output
    lists the data that was read from the results instead of rebuilt. Input paths are relative to
    the current folder. Without CONFIG, the command uses the configuration in summary.json.

    \b
    Exit codes
      0  equal
      1  different: the bytes of an input, a part or a shard differ
      2  not rebuilt: an input or the plan is missing, or the configuration differs
    """
    from corpusmill.cli.check import checked_config
    from corpusmill.tools.prove import proving as command

    try:
        config = checked_config(list(configs)) if configs else None
        with told_how_far(), read_as_written(options["results"]):
            outcome = command.prove(command.Asked(config=config, **options))
    except (ValueError, OSError) as error:
        raise CouldNotLookError(str(error)) from error
    echo(command.as_json(outcome) if in_json else "\n".join(command.in_words(outcome)), in_json)
    sys.exit(outcome.findings.code)


class CouldNotLookError(click.ClickException):
    """The error of a check that could not be completed."""

    exit_code = 2


@contextlib.contextmanager
def told_how_far() -> Iterator[Callable[[str], None]]:
    """Show the progress of the current phase during the block; yield a function that prints a
    line."""
    from corpusmill.cli.screen import OneLine
    from corpusmill.run.job_progress import Heartbeat

    line = OneLine()
    heartbeat = Heartbeat(line.show)
    heartbeat.start()
    stopped = False
    try:
        yield line.show
    except KeyboardInterrupt:
        stopped = True
    finally:
        heartbeat.stop()
        line.close()
    if stopped:
        echo("Stopped. Nothing was changed.", err=True)
        sys.exit(130)


@contextlib.contextmanager
def speaking(stopped: str = "Stopped.") -> Iterator[Callable[[str], None]]:
    """Print the current activity every two seconds during the block; yield a function that prints a
    line. A user error or Ctrl-C ends in one sentence. stopped: the sentence for Ctrl-C."""
    from corpusmill.run.job_progress import Heartbeat

    def say(line: str) -> None:
        echo(line, err=True)

    heartbeat = Heartbeat(say)
    heartbeat.start()
    try:
        yield say
    except KeyboardInterrupt:
        echo(stopped, err=True)
        sys.exit(130)
    except BrokenPipeError:
        raise  # by `| head`: click ends silently
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    finally:
        heartbeat.stop()


@main.command()
@config_argument
@click.option(
    "--documents",
    default=10_000,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="Number of documents to sample, divided evenly among the sources.",
)
@click.option(
    "--read",
    default=2_000,
    show_default=True,
    type=click.IntRange(1),
    metavar="MB",
    help="Approximate maximum amount of text to read, in MB.",
)
@click.option(
    "--examples",
    default=3,
    show_default=True,
    type=click.IntRange(0, 100),
    help="Number of documents to show on each side of a limit.",
)
@click.option("--seed", type=click.IntRange(0), help="Seed of the sample; default: shuffle.seed.")
@click.option(
    "-o",
    "--output",
    default=Path("."),
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder for calibration.html and calibration.json; default: the current folder.",
)
@click.option("-f", "--force", is_flag=True, help="Replace existing files.")
def calibrate(configs: tuple[Path, ...], read: int, **options: Any) -> None:
    """Show what each filter drops from a sample at different limits.

    Writes an HTML page with charts and examples, and a JSON file with the same figures. The command
    needs no finished run.
    """
    from corpusmill.cli.check import checked_config
    from corpusmill.tools.tune.calibrate import calibrating as command

    asked = command.Options(read_megabytes=read, **options)
    with speaking():
        config = checked_config(configs_or_default(configs))
        say_what_is_replaced(configs)
        for line in command.calibrate(config, asked):
            echo(line)


@main.command("eye-test")
@click.argument(
    "results", metavar="[DIR]", default=Path("results"),
    type=click.Path(file_okay=False, path_type=Path),
)  # fmt: skip
@click.option(
    "--length", default=256, show_default=True, type=click.IntRange(1), metavar="N",
    help="Tokens per sample.",
)  # fmt: skip
@click.option(
    "--samples", default=3, show_default=True, type=click.IntRange(0), metavar="N",
    help="Number of samples to show per split, evenly spaced.",
)  # fmt: skip
@click.option("--seed", default=0, show_default=True, type=int, help="Seed of the sampler.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per split.")
def eye_test(**given: Any) -> None:
    """Show the tokens and samples that a trainer reads from a finished corpus.

    Shows token ids and decoded samples, with special tokens as ⟦name⟧, and tests the sampler. Exit
    code 1 if end-of-text tokens are missing or misplaced, a sample repeats within an epoch, or
    targets are not the inputs shifted by one token.
    """
    from corpusmill.tools.why.eye_test import looking as command

    with speaking(), read_as_written(given["results"]):
        for line in command.eye_test(command.Asked(**given)):
            echo(line, given["as_json"])


@main.command()
@click.argument("format_name", metavar="[FORMAT]", required=False)
@click.argument(
    "results", metavar="[DIR]", default=Path("results"),
    type=click.Path(file_okay=False, path_type=Path),
)  # fmt: skip
@click.option(
    "--to", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Output folder; default: exports/FORMAT.",
)  # fmt: skip
@click.option(
    "--length", default=2048, show_default=True, type=click.IntRange(1), metavar="N",
    help="Tokens per sample, for formats that store samples.",
)  # fmt: skip
@click.option(
    "--packed", is_flag=True,
    help="Samples are rows that the run packed (output.pack), for mds, litdata and hdf5.",
)  # fmt: skip
def export(
    format_name: str | None, results: Path, to: Path | None, length: int, packed: bool
) -> None:
    """Write a finished corpus in the file format of a trainer.

    Without FORMAT, the command lists the formats. An export uses the existing tokens. If an export
    is interrupted, the same command resumes it.
    """
    from corpusmill.tools.export import answers as command

    if format_name is None:
        echo("\n".join(command.table()))
        return
    with speaking("Stopped. Run the command again to resume."), read_as_written(results):
        echo(command.export(format_name, results, to, length, packed))


@main.command()
@config_argument
@click.option(
    "--cores",
    default="all",
    show_default=True,
    type=Cores(),
    help="Number of processors that the run will use.",
)
@click.option(
    "--read",
    default=1_000,
    show_default=True,
    type=click.IntRange(1),
    metavar="MB",
    help="Maximum amount of text to read, in MB.",
)
@click.option(
    "--seconds",
    default=30,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Approximate duration of the estimate in seconds; a longer one uses a larger sample.",
)
@click.option("--json", "in_json", is_flag=True, help="Print only the figures, as JSON.")
def estimate(configs: tuple[Path, ...], cores: str, read: int, seconds: int, in_json: bool) -> None:
    """Estimate a run's output, time, memory and disk space.

    Reads some text of every source, finds duplicates in this text, and processes a sample in a
    temporary folder. An estimate takes at least ten seconds; the first one on a machine takes
    longer.
    """

    from corpusmill.cli.check import planned
    from corpusmill.tools.tune.estimate import estimating as command

    try:
        with told_how_far():
            config, layout = planned(configs_or_default(configs))
            for note in layout.inputs.skipped:
                echo(f"NOTE: {note}", err=True)
            found = command.estimate(
                config, layout, command.Options(count_of(cores), read, seconds)
            )
            lines = (
                [json_text(command.in_json(found), None)] if in_json else list(command.told(found))
            )
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    for line in lines:
        echo(line, in_json)


@main.command()
@config_argument
@click.option(
    "--cores",
    default="all",
    show_default=True,
    type=Cores(),
    help="Number of files to read in parallel.",
)
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(0, 1_000_000), metavar="N",
    help="Number of malformed records to show; all are counted.",
)  # fmt: skip
@click.option("--json", "in_json", is_flag=True, help="Print all findings as JSON.")
def scan(configs: tuple[Path, ...], cores: str, limit: int, in_json: bool) -> None:
    """Read all input files and list the errors in them.

    Finds errors that could stop a run after hours of reading: too many malformed records (see
    max_malformed_fraction) and truncated files. The command writes nothing. Exit code 1 if a run
    would fail on these files.
    """

    from corpusmill.cli import scan as command
    from corpusmill.cli.check import planned

    with told_how_far():
        try:
            config, layout = planned(configs_or_default(configs))
            found = command.scan(config, layout.inputs, count_of(cores), limit)
        except (ValueError, OSError) as error:
            raise click.ClickException(str(error)) from error
    for note in layout.inputs.skipped:
        echo(f"NOTE: {note}", err=True)
    in_words = (told_lines(line) for line in command.in_words(found))
    for line in [json_text(command.as_json(found), None)] if in_json else in_words:
        echo(line, in_json)
    sys.exit(bool(found.faults))


@main.command()
@click.argument("queries", metavar="[QUERY]...", nargs=-1)
@click.option(
    "--text", help="Find the document with this text; if there is none, the most similar documents."
)
@click.option(
    "--text-file",
    metavar="FILE",
    help="Like --text, but read the text from FILE; - means standard input.",
    type=click.File("r", encoding="utf-8"),
)  # fmt: skip
@click.option("--dropped", is_flag=True, help="List dropped records.")
@click.option("--fate", "fates", multiple=True, help="List records with this fate. Repeatable.")
@click.option("--source", "sources", multiple=True, help="List records of this source. Repeatable.")
@click.option(
    "--sample", default=20, show_default=True, type=click.IntRange(1, 1_000_000), metavar="N",
    help="Number of records to list, evenly spaced.",
)  # fmt: skip
@click.option(
    "--results", default=Path("results"), show_default=True, type=click.Path(path_type=Path),
    metavar="DIR", help="Results of a finished run.",
)  # fmt: skip
@click.option(
    "--reader", "readers", multiple=True, metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Your Python file that reads an input format. Reader files that are named in the results "
    "are not executed.",
)  # fmt: skip
@click.option(
    "--json", "as_json", is_flag=True, help="Print the answers as JSON, one object per line."
)
def why(queries: tuple[str, ...], as_json: bool, results: Path, **given: Any) -> None:
    """Explain why a document was kept or dropped.

    \b
    corpusmill why 4294967708                            # a document, by its id
    corpusmill why data/web/0.jsonl.zst:412              # a line of an input file
    corpusmill why corpus/train/00003.jsonl.zst:17       # a line of a text shard
    corpusmill why tokens/train/00003.bin:123456         # a token
    corpusmill why --text "It was a dark and stormy night"
    corpusmill why --dropped --fate duplicate --source web --sample 20
    """
    from corpusmill.tools.why import answers as command

    text_file, text = given["text_file"], given["text"]
    wanted = command.wanted_of(given["dropped"], given["fates"], given["sources"], given["sample"])
    few = "name a document, a text, or the records to list"
    ways = (bool(queries), text is not None, text_file is not None, wanted is not None)
    if sum(ways) != 1:
        few = "use only one of these at a time" if any(ways) else few
        raise click.UsageError(f"{few}: QUERY, --text, --text-file, or --dropped, --fate, --source")
    width = shutil.get_terminal_size((100, 24)).columns
    text = text if text_file is None else whole_text(text_file)
    asked = command.Asked(queries, text, wanted, results, as_json, width, given["readers"])
    with speaking(), read_as_written(results):
        for line in command.why(asked):
            echo(line, as_json)


def whole_text(file: IO[str]) -> str:
    try:
        return file.read()
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{file.name}: not UTF-8. Save it as UTF-8.") from error


@main.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def designer(context: click.Context) -> None:
    """Recommend values of dedup.bands and dedup.rows, based on a sample."""
    from corpusmill.tools.tune.bands import recommending as command

    sys.argv = ["corpusmill designer", *context.args]
    command.main()


class NumberRange(click.FloatRange):
    """A number range that rejects nan: nan is neither below nor above any limit."""

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, context))
        if math.isnan(number):
            self.fail(f"expected a number, got {value}", param, context)
        return number


@main.command("train-filter")
@click.option(
    "--good",
    required=True,
    multiple=True,
    metavar="FILE",
    help="Good texts. Repeatable.",
)
@click.option("--bad", required=True, multiple=True, metavar="FILE", help="Bad texts. Repeatable.")
@click.option(
    "-o", "--output", required=True, metavar="MODEL",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Model file to write. The evaluation report is written to MODEL.json.",
)  # fmt: skip
@click.option(
    "--text-field", default="text", show_default=True, help="Field or column that holds the text."
)
@click.option(
    "--held-out", default=0.1, show_default=True, type=NumberRange(0.001, 0.9),
    help="Share of the texts to hold out for evaluation.",
)  # fmt: skip
@click.option(
    "--epochs", default=5, show_default=True, type=click.IntRange(1, 1000),
    help="Number of passes over the texts.",
)  # fmt: skip
@click.option(
    "--rate", default=3.0, show_default=True, type=NumberRange(1e-6, 1000),
    help="Learning rate.",
)  # fmt: skip
@click.option(
    "--words", default=2, show_default=True, type=click.IntRange(1, 5),
    help="Number of words in the longest n-gram.",
)  # fmt: skip
@click.option(
    "--bits", default=20, show_default=True, type=click.IntRange(10, 26),
    help="Size of the model: 2**bits weights of 4 bytes each.",
)  # fmt: skip
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0),
    help="Seed for the order of the texts and the choice of held-out texts.",
)  # fmt: skip
def train_filter(**given: Any) -> None:
    """Train a model for the quality_model filter.

    FILE is an input file, a folder of input files, or a quoted glob pattern. The same texts always
    give the same model; the order of the texts and their division into files do not matter.

    \b
    corpusmill train-filter --good wiki.jsonl --bad 'crawl/*.jsonl.zst' -o quality.model
    """
    from corpusmill.cli.train_filter import Asked
    from corpusmill.cli.train_filter import train_filter as train
    from corpusmill.mill.filters.models.quality_model import Definition
    from corpusmill.mill.filters.models.training import Settings

    with speaking():
        said = train(
            Asked(given["good"], given["bad"], given["text_field"], given["output"]),
            Definition(given["words"], given["bits"]),
            Settings(given["held_out"], given["epochs"], given["rate"], given["seed"]),
        )
    echo(said)


@main.command()
def where() -> None:
    """Print the path of the Snakefile."""
    from corpusmill.run.workflow_files import workflow_home

    echo(workflow_home() / "Snakefile")


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a shell completion script for commands and options.

    \b
    bash   corpusmill completion bash >> ~/.bashrc
    zsh    corpusmill completion zsh >> ~/.zshrc
    fish   corpusmill completion fish > ~/.config/fish/completions/corpusmill.fish
    """
    from click.shell_completion import get_completion_class

    complete = get_completion_class(shell)
    assert complete is not None, f"click knows no {shell}"
    echo(complete(main, {}, "corpusmill", "_CORPUSMILL_COMPLETE").source())
