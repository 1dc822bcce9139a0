"""What several rules ask of the configuration and the plan. Functions only, no rules."""

import atexit
import gc
import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod

# Tens of thousands of jobs are millions of objects that stay: looking for garbage among them all
# the time was an eighth of a dry run.
gc.set_threshold(1_000_000, 10, 10)

# The package stands beside the Snakefile and is imported from there, by this process and by jobs.
ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT))
IN_CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
JOB_ENVIRONMENT = {
    "CORPUSMILL_PYTHON": "python" if IN_CONDA else sys.executable,
    "CORPUSMILL_ROOT": str(ROOT),
    # Jobs hold a few large buffers for a short time. pyarrow's own allocator gives each back to
    # the system at once and a third of a scatter job went into page faults; glibc's keeps them,
    # and with this tunable (2.35 and later, others ignore it) takes huge pages where it can.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
os.environ.update(JOB_ENVIRONMENT)

from corpusmill.run import plan as planning
from corpusmill.run.code_digest import code_digest as digest_of_code
from corpusmill.run.config import (
    band_setting,
    check_config,
    fractions,
    milled_sources,
    refuse_config_without_sources,
    text_field,
)
from corpusmill.demo.files import EVALUATION_FILES, FILES as DEMO_FILES
from corpusmill.documents.fates import SPLITS
from corpusmill.storage.files import load_json
from corpusmill.storage.buckets import bucket_count
from corpusmill.run import record as run_record

DEMO = "results/demo"


def planned_inputs():
    """Check the configuration and list the input files; one line per fault, no traceback."""
    try:
        given = workflow.config_settings
        refuse_config_without_sources(given.configfiles, given.overwrite_config)
        check_config(config, ROOT / "config.schema.yaml")
        made = {
            f"{DEMO}/{name}": size
            for name, size in (DEMO_FILES | EVALUATION_FILES).items()
        }
        files = planning.list_inputs(config["sources"], made)
        names = {source["name"] for source in milled_sources(config)}
        inputs = [file for file in files if file.source in names]
        held_out = [file for file in files if file.source not in names]
        planning.refuse_other_corpus(inputs, made)
        part_bytes = config["input"]["part_bytes"]
        finished = run_record.load_record()["finished"]
        earlier = planning.earlier_parts(finished, part_bytes)
        parts = planning.plan_parts(inputs, part_bytes, earlier)
    except ValueError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    return parts, held_out


def local_tokenizer():
    """The folder of the tokenizer, if it is one."""
    source = config["tokenizer"]["source"]
    return Path(source) if source != "train" and Path(source).is_dir() else None


def is_kept(folder):
    """Whether the tokenizer of the last run is of a folder of this name that is older: it was
    looked at then, and once more by its rule if it has to run again."""
    kept = Path("results/tokenizer/corpusmill.json")
    if not kept.exists() or load_json(kept)["source"] != folder.resolve().name:
        return False
    times = [path.stat().st_mtime for path in (folder, *folder.iterdir())]
    return max(times) < kept.stat().st_mtime


def started_tokenizer_check():
    """The process that looks at a local tokenizer while the workflow is read; None if there is
    nothing to look at. It ends with this one, whether or not somebody asks for its answer.
    """
    folder = local_tokenizer()
    if IN_CONDA or not workflow.is_main_process or not folder or is_kept(folder):
        return None
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    check = subprocess.Popen(
        [sys.executable, "-P", "-m", "corpusmill.tokens.tokenizer_check", folder],
        env=os.environ | {"PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    atexit.register(check.kill)
    return check


def finish_tokenizer_check():
    """Stop the run, before any job, if the local tokenizer has no ids for plain text."""
    if TOKENIZER_CHECK is None:
        return
    _, told = TOKENIZER_CHECK.communicate()
    if TOKENIZER_CHECK.returncode:
        print(told.strip().splitlines()[-1], file=sys.stderr)
        sys.exit(1)


PARTS, HELD_OUT = planned_inputs()
TOKENIZER_CHECK = started_tokenizer_check()
PART_NAMES = [part.name for part in PARTS]
SOURCES = {source["name"]: source for source in config["sources"]}
WEIGHTS = {source["name"]: source.get("weight", 1) for source in milled_sources(config)}
FRACTIONS = fractions(config)
SHARDS = planning.shard_counts(
    PARTS, WEIGHTS, FRACTIONS, config["output"]["shard_bytes"]
)
GENERATION = max(part.generation for part in PARTS)
METHOD = config["dedup"]["method"]
BANDS, BAND_ROWS = band_setting(config)
PERMUTATIONS = 0 if METHOD == "exact" else config["minhash"]["permutations"]

# What is done in a moment for a part is done for so many at once, if there are enough for many
# blocks.
BLOCK_PARTS = max(1, min(16, len(PARTS) // 8))
BLOCK_NAMES = [f"{block:05d}" for block in range(-(-len(PARTS) // BLOCK_PARTS))]

# What jobs are cut by before a document is read: as web pages are on average. Smaller documents
# are more of them; a pair job then takes its bucket in several pieces.
EXPECTED_DOCUMENT_BYTES = 2000
# For the memory of jobs that hold something of every document: few corpora have shorter ones.
LEAST_DOCUMENT_BYTES = 500
BUCKET_ENTRIES = config["input"]["part_bytes"] // 16
BUCKETS = bucket_count(
    sum(part.text_bytes for part in PARTS) // EXPECTED_DOCUMENT_BYTES,
    BANDS + 1,
    bucket_entries=BUCKET_ENTRIES,
)
BUCKET_NAMES = [f"{bucket:05d}" for bucket in range(BUCKETS)]
# Were every document like another, a bin would hold the texts of two parts. Two parts have two
# bins, which are resolved side by side.
BINS = max(-(-len(PARTS) // 2), min(len(PARTS), 2))
BIN_NAMES = [f"{bin:05d}" for bin in range(BINS)]
TEXT_ENDING = config["output"]["format"]

# With repeated spans cut out, the steps after read another text part of the same rows.
SPAN_UNIT = config["spans"]["unit"]
SPAN_WIDTH = config["spans"]["width"] if SPAN_UNIT == "sentence" else 1
CUTS_SPANS = SPAN_UNIT != "none"
TEXT = "results/cut/{part}.arrow" if CUTS_SPANS else "results/text/{part}.arrow"
EXPECTED_SPAN_BYTES = 100
SPAN_BUCKETS = bucket_count(
    sum(part.text_bytes for part in PARTS) // EXPECTED_SPAN_BYTES,
    1,
    bucket_entries=BUCKET_ENTRIES,
)
SPAN_RULES = ["span", "complete_spans", "repeat", "complete_repeats", "cut"]
SPAN_BUCKET_NAMES = [f"{bucket:05d}" for bucket in range(SPAN_BUCKETS)]
JOINED_NAMES = {"train": "train", "validation": "val", "test": "test"}
USES_DEMO = any(
    file.path.startswith(f"{DEMO}/") for part in PARTS for file in part.files
)


def run_script(step):
    """The shell command of a step, whose job is two lines of JSON: params.told, params.paths.

    The places of Python and of this checkout are in the environment, so that the command is the
    same where they are others. PYTHONPATH is not: Snakemake takes it from jobs in conda.
    """
    path = 'PYTHONPATH="$CORPUSMILL_ROOT${{PYTHONPATH:+:$PYTHONPATH}}"'
    script = f'"$CORPUSMILL_PYTHON" -P "$CORPUSMILL_ROOT/scripts/{step}.py"'
    return f"{path} {script} {{log:q}} <<'JOB'\n{{params.told}}\n{{params.paths}}\nJOB"


def code_digest(step):
    """Reruns a step when its script, or code that it imports, changes."""
    return digest_of_code(ROOT, ROOT / "scripts" / f"{step}.py")


def told(**values):
    """The param `told`: what a step's script is told, wildcards among it; the step is run again
    when it changes.

    values: as they are, or functions of the wildcards.
    """

    def as_json(wildcards):
        assert not values.keys() & wildcards.keys(), values.keys()
        asked = {
            name: value(wildcards) if callable(value) else value
            for name, value in values.items()
        }
        return json.dumps(asked | dict(wildcards.items()), sort_keys=True)

    return quickly_called(as_json)


def quickly_called(function):
    """The same function with its signature at hand: Snakemake looks at it for every call, which
    otherwise is a tenth of a dry run of 40,000 jobs."""
    function.__signature__ = inspect.signature(function)
    return function


@quickly_called
def named_paths(wildcards, input, output):
    """The param `paths`: input and output of a job by their names in the rule."""
    return json.dumps({"input": dict(input.items()), "output": dict(output.items())})


def config_digest():
    """Which configuration a result was made with."""
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:16]


def part_of(wildcards):
    return PARTS[int(wildcards.part)]


def files_of_part(wildcards):
    return [file.path for file in part_of(wildcards).files]


def described_files_of_part(wildcards):
    """What normalize must know of each input file."""
    return described(part_of(wildcards).files)


def described(files):
    """Source, path and text field of each file, and which state of it is meant."""
    return [
        {
            "source": file.source,
            "path": file.path,
            "text_field": text_field(SOURCES[file.source]),
            "bytes": file.bytes,
            "mtime_ns": file.mtime_ns,
        }
        for file in files
    ]


def of_sources(key, default):
    """What the config says under a key of each source; the default where it says nothing."""
    return {name: source.get(key, default) for name, source in SOURCES.items()}


def preference():
    """Which of the documents that are alike is kept; see corpusmill/dedup/order.py."""
    generations = [part.generation for part in PARTS]
    return {
        "priority": of_sources("priority", None),
        "weights": WEIGHTS,
        "field": config["dedup"]["prefer"]["field"],
        "generations": generations if config["dedup"]["earlier_first"] else None,
    }


PREFERENCE = preference()


# Functions of the wildcards, though there are none: in a literal a brace in a file name would be
# taken for one.
def held_out_files(wildcards):
    return [file.path for file in HELD_OUT]


def described_held_out_files(wildcards):
    return described(HELD_OUT)


def lines_of_plan(wildcards):
    return planning.plan_lines(PARTS, config["input"]["part_bytes"])


def held_out_memory(base, bytes_per_text):
    """mem_mb of a job that holds something of every held-out text: of the splits, the sets."""
    share = FRACTIONS["validation"] + FRACTIONS["test"]
    expected = share * sum(part.text_bytes for part in PARTS)
    expected += sum(file.text_bytes for file in HELD_OUT)
    texts = expected / LEAST_DOCUMENT_BYTES
    return memory(lambda wildcards: (base, 1, texts * bytes_per_text))


def of_parts(pattern):
    """One file per part, in part order."""
    return expand(pattern, part=PART_NAMES)


def if_cut(files):
    """The files if repeated spans are cut, otherwise none."""
    return files if CUTS_SPANS else []


# Rules that are not part of this run, though the files of others have their names.
IDLE_RULES = {
    *([] if CUTS_SPANS else SPAN_RULES),
    *([] if config["output"]["join"] else ["join"]),
    *([] if USES_DEMO else ["demo", "recall"]),
}


def made_files(wildcards=None):
    """Every file that a run of this configuration makes, but for the demo's, which are input."""
    numbers = {
        "part": len(PARTS),
        "block": len(BLOCK_NAMES),
        "bucket": BUCKETS,
        "span_bucket": SPAN_BUCKETS,
        "bin": BINS,
    }
    made = {}
    for step in workflow.rules:
        if step.name not in IDLE_RULES:
            for file in [*step.output, *step.log, step.benchmark]:
                made |= numbered(str(file), numbers) if file else {}
    return {file: count for file, count in made.items() if not file.startswith(DEMO)}


def numbered(file, numbers):
    """The files of a rule by pattern, and how many there are of each."""
    # Snakemake has written the constraint of each wildcard behind its name.
    pattern = re.sub(r"\{(\w+),(?:[^{}]|\{[^{}]*\})*\}", r"{\1}", file)
    if "{split}" in pattern:
        return {
            pattern.replace("{split}", split).replace(
                "{shard}", run_record.NUMBER
            ): count
            for split, count in SHARDS.items()
        }
    if "{joined}" in pattern:
        return {
            pattern.replace("{joined}", JOINED_NAMES[split]): None for split in SHARDS
        }
    for wildcard, count in numbers.items():
        if f"{{{wildcard}}}" in pattern:
            return {pattern.replace(f"{{{wildcard}}}", run_record.NUMBER): count}
    return {pattern: None}


def of_block(pattern):
    """A function of the wildcard `part`: the file of the block that the part is in."""
    return lambda wildcards: pattern.format(
        block=f"{int(wildcards.part) // BLOCK_PARTS:05d}"
    )


def first_part_of_block(wildcards):
    return int(wildcards.block) * BLOCK_PARTS


def files_of_block(pattern):
    """A function of the wildcard `block`: one file per part of the block, in part order."""

    def files(wildcards):
        first = first_part_of_block(wildcards)
        names = PART_NAMES[first : first + BLOCK_PARTS]
        return [pattern.format(part=name) for name in names]

    return files


cut_files_of_block = files_of_block("results/cut/{part}.npy")


def whole_files_of_block(wildcards):
    """Per part of the block, what texts were before spans were cut, if any are."""
    return if_cut(cut_files_of_block(wildcards))


def shards_of_all(pattern):
    """One file per shard of every split, in target order."""
    return [
        pattern.format(split=split, shard=f"{shard:05d}")
        for split in SPLITS
        for shard in range(SHARDS.get(split, 0))
    ]


def joined_files(pattern):
    """The joined file of every split, if they are asked for."""
    wanted = SHARDS if config["output"]["join"] else []
    return [pattern.format(joined=JOINED_NAMES[split]) for split in wanted]


def files_to_join(pattern):
    """A function of the wildcard `joined`: the files of all shards of its split."""
    splits = {name: split for split, name in JOINED_NAMES.items()}
    return lambda wildcards: [
        pattern.format(split=splits[wildcards.joined], shard=f"{shard:05d}")
        for shard in range(SHARDS[splits[wildcards.joined]])
    ]


bins_to_join = files_to_join("results/tokens/{split}/{shard}.bin")
facts_to_join = files_to_join("results/tokens/{split}/{shard}.json")


def tokenizer_files(wildcards):
    """The files of a local tokenizer, so that another one there is another input."""
    folder = local_tokenizer()
    files = folder.iterdir() if folder else []
    return sorted(str(path) for path in files if path.is_file())


def states_of_tokenizer_files(wildcards):
    """Size and time of each file of a local tokenizer: an older one is another one too."""
    states = [(path, os.stat(path)) for path in tokenizer_files(wildcards)]
    return [[path, state.st_size, state.st_mtime_ns] for path, state in states]


def tokenizer_training_text():
    if config["tokenizer"]["source"] != "train":
        return []
    return [f"results/corpus/train/00000.{TEXT_ENDING}"]


def memory(amounts):
    """mem_mb as a function of wildcards and attempt: half as much again with every attempt.

    amounts: wildcards -> (megabytes at least, megabytes per megabyte of data, bytes of data).
    """

    def mem_mb(wildcards, attempt):
        base, per_megabyte, data_bytes = amounts(wildcards)
        return int((base + per_megabyte * data_bytes / 1e6) * 1.5 ** (attempt - 1))

    return quickly_called(mem_mb)


def part_memory(base, per_text_megabyte):
    """mem_mb that follows from the text bytes of the job's part."""
    return memory(
        lambda wildcards: (base, per_text_megabyte, part_of(wildcards).text_bytes)
    )


def largest_part_memory(base, per_text_megabyte):
    """mem_mb that follows from the text bytes of the largest part."""
    largest = max(part.text_bytes for part in PARTS)
    return memory(lambda wildcards: (base, per_text_megabyte, largest))


def shard_memory(base, per_text_megabyte):
    """mem_mb that follows from the text bytes per shard."""
    shard_bytes = config["output"]["shard_bytes"]
    return memory(lambda wildcards: (base, per_text_megabyte, shard_bytes))


def documents_memory(base, bytes_per_document):
    """mem_mb of a job that holds a few bytes of every document at once."""
    expected = sum(part.text_bytes for part in PARTS) // LEAST_DOCUMENT_BYTES
    return memory(lambda wildcards: (base, 1, expected * bytes_per_document))


def bucket_memory(base, bytes_per_entry):
    """mem_mb of a job of a bucket of keys, which holds so many at once."""
    return memory(lambda wildcards: (base, 1, BUCKET_ENTRIES * bytes_per_entry))


def begin_run():
    """What a run does before its first job: it writes down which files it is going to make."""
    if not workflow.is_main_process:
        return
    try:
        run_record.begin(made_files())
    except ValueError as error:
        raise WorkflowError(str(error))


def show_result():
    """The account of the run, for the person at the terminal."""
    table = Path("results/summary.txt")
    if table.exists():
        print(table.read_text("utf-8"), file=sys.stderr)
