"""What the rules are written with: the run's layout, and the parts that all of them have alike.

Functions only, no rules. Whatever can be said without Snakemake is in corpusmill/run.
"""

import atexit
import gc
import json
import os
import re
import signal
import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

# Tens of thousands of jobs are millions of objects that stay: looking for garbage among them all
# the time was an eighth of a dry run.
gc.set_threshold(1_000_000, 10, 10)

# The workflow's own files, also where another workflow has it as a module. The package stands
# beside them, or, installed, around them.
HOME = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
ROOT = HOME if (HOME / "corpusmill").is_dir() else HOME.parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

# Ours, also later, when jobs are made and another workflow's may be the current one.
MODIFIER = workflow.modifier
IS_MODULE = MODIFIER.parent_modifier is not None


def placed(path):
    """Where a file of a rule really is, elsewhere if a module is used with a prefix."""
    return Path(MODIFIER.modify_path(str(path)))


def tell(event, text):
    """Let `corpusmill run` know, which shows nothing of what is printed here."""
    pipe = os.environ.get("CORPUSMILL_EVENTS")
    if workflow.is_main_process and pipe:
        line = json.dumps({"event": event, "text": text}) + "\n"
        os.write(int(pipe), line.encode())


def stop(reason):
    """End with a reason in a line or a few, no traceback."""
    print(told_lines(str(reason)), file=sys.stderr)
    tell("refused", str(reason))
    end_run(announcement.FAILED, str(reason))
    sys.exit(1)


def note(text):
    """Say what may be meant, and is likely not to be."""
    print(told_lines(f"NOTE: {text}"), file=sys.stderr)
    tell("note", text)


from corpusmill.run import announcement
from corpusmill.run.disk import disk_faults, expected_disk, unwritable
from corpusmill.messages.disk_errors import in_words
from corpusmill.messages.plain_text import told_lines

ANNOUNCEMENT = placed(announcement.ANNOUNCEMENT)
RUN = os.environ.pop(announcement.ANNOUNCED, "")
IS_READ = False


def announce_run():
    """Announce this run before the workflow is read, and at its end what became of it; its name.

    Of modules a run may have several, and whoever runs others' rules is no run of ours.
    """
    if IS_MODULE or not workflow.is_main_process or workflow.output_settings.dryrun:
        return ""
    if faults := unwritable(ANNOUNCEMENT.parent):
        stop(faults[0])
    try:
        name = RUN or announcement.announce(ANNOUNCEMENT)
        if name:
            announcement.go_on(ANNOUNCEMENT, name)
    except OSError as error:
        stop(f"error: {in_words(error)}")
    atexit.register(conclude_run)
    return name


def end_run(outcome, reason=""):
    """Say how this run ended, unless that is said."""
    try:
        announcement.end(ANNOUNCEMENT, RUN, outcome, reason)
    except OSError as error:
        print(f"error: {in_words(error)}", file=sys.stderr)


def conclude_run():
    """Say so of a run that did not itself; undo the announcement if this Snakemake ran nothing."""
    if IS_READ and workflow.execution_settings is None:
        announcement.withdraw(ANNOUNCEMENT, RUN)
        return
    # There is a scheduler as soon as Snakemake knows what is to be done.
    has_nothing_to_do = workflow.scheduler is not None and not len(workflow.dag)
    end_run(announcement.NOTHING if has_nothing_to_do else announcement.FAILED)


RUN = announce_run()

from corpusmill.run import one_at_a_time, record
from corpusmill.run.clock import clock_faults
from corpusmill.run.code_digest import code_digest as digest_of_code
from corpusmill.run.config import Config, config_digest, shaping
from corpusmill.run.config_files import (
    as_in_files,
    laid_over,
    refuse_config_without_sources,
    refuse_repeated_keys,
    replaced_lists,
)
from corpusmill.run.job_list import JOB_LIST, RuleJobs, save_job_list
from corpusmill.run.job_state import state_file
from corpusmill.run.input_files import told_replaced
from corpusmill.run.layout import DEMO, Layout, quickly_called
from corpusmill.run.lost_files import lost_files
from corpusmill.run.recipes import made_otherwise, save_recipes
from corpusmill.run.termination import handle_beside
from corpusmill.run.signatures import mismatches, parameters
from corpusmill.run.slurm import Spared, watched
from corpusmill.run.step_log import SAY_KILLED
from corpusmill.run.steps import STEPS
from corpusmill.run.typed import as_given
from corpusmill.run.early_checks import (
    early_checks,
    faults_of,
    local_tokenizer,
    notes_of,
    states_of_files,
    told_of_tokenizer,
    tokenizer_files,
)
from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.recipes import Recipe, recipe_of, settings_digest
from corpusmill.mill.storage.sums import name_of
from corpusmill.mill.demo.files import EVALUATION_FILES, FILES as DEMO_FILES

IN_CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
# Jobs inherit it.
os.environ.update(
    {
        "CORPUSMILL_PYTHON": "python" if IN_CONDA else sys.executable,
        "CORPUSMILL_ROOT": str(ROOT),
        "CORPUSMILL_SCRIPTS": str(HOME / "scripts"),
        "CORPUSMILL_KILLED": SAY_KILLED,
        # Those of a cluster start with `python -m snakemake`, which would import modules that lie in
        # the folder of the run.
        "PYTHONSAFEPATH": "1",
        # Jobs hold a few large buffers for a short time. pyarrow's own allocator gives each back to
        # the system at once and a third of a scatter job went into page faults; glibc's keeps them,
        # and with this tunable (2.35 and later, others ignore it) takes huge pages where it can.
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }
)


if workflow.is_main_process:
    # Of modules, of which a run may have several, jobs alone are kept apart.
    if not IS_MODULE:
        one_at_a_time.name_run(placed("logs/run"), RUN)
elif workflow.remote_exec:
    # Before Snakemake removes this job's outputs, which may be the next run's by now.
    try:
        one_at_a_time.refuse_if_followed()
    except ValueError as error:
        stop(f"error: {error}")


RECORD = placed("results/plan/record.json")


def on_cluster():
    """Whether jobs run on a cluster, in Snakemakes of their own; known when jobs are made."""
    return workflow.non_local_exec or workflow.remote_exec


def planned():
    """Configuration and inputs checked, one line per fault, no traceback; what comes of them."""
    try:
        if IS_MODULE:
            given = laid_over(HOME / "config.yaml", config)
            refuse_config_without_sources([Path("the module's config")], config)
        else:
            told = workflow.config_settings
            given = as_in_files(config, told.config)
            refuse_repeated_keys(told.configfiles)
            refuse_config_without_sources(told.configfiles, told.overwrite_config)
            if workflow.is_main_process:
                for notice in replaced_lists(told.configfiles):
                    print(told_lines(f"NOTE: {notice}"), file=sys.stderr)
        checked = Config.checked(given)
        if faults := unwritable(placed("results")):
            raise ValueError(faults[0])
        demo = {
            f"{DEMO}/{name}": n for name, n in (DEMO_FILES | EVALUATION_FILES).items()
        }
        layout = Layout.planned(checked, placed("results"), demo, on_cluster)
        if checked.input.verify == "always" and workflow.is_main_process:
            layout.note_replaced(placed("results"))
        return checked, layout
    except ValueError as error:
        stop(error)


CONFIG, LAYOUT = planned()
SPARED = Spared(placed("logs/spared.json"))
LAYOUT.spared = SPARED.of
# A line for every job of a cluster that failed.
ENDS_OF_JOBS = []
# Steps that are not part of this run, though the files of others have their names.
IDLE_STEPS = {name for name, step in STEPS.items() if not step.part_of_run(LAYOUT)}
CODE_DIGESTS = {}
EARLY_CHECKS = []
if workflow.is_main_process and not IN_CONDA:
    try:
        EARLY_CHECKS = early_checks(
            CONFIG,
            LAYOUT,
            placed("results"),
            ROOT,
            ask_hub=not workflow.output_settings.dryrun,
        )
    except ValueError as error:
        stop(error)


def run_script(step):
    """The shell command of a step, whose job is two lines of JSON: params.settings, params.paths.

    The places of Python and of this checkout are in the environment, so that the command is the
    same where they are others. PYTHONPATH is not: Snakemake takes it from jobs in conda.
    """
    path = 'PYTHONPATH="$CORPUSMILL_ROOT${{PYTHONPATH:+:$PYTHONPATH}}"'
    path += " CORPUSMILL_MEM_MB={resources.mem_mb}"
    script = f'"$CORPUSMILL_PYTHON" -P "$CORPUSMILL_SCRIPTS/{step}.py"'
    killed = 'sh -c "$CORPUSMILL_KILLED" {log:q} $? {resources.mem_mb}'
    job = f"<<'JOB' || {killed}\n{{params.settings}}\n{{params.paths}}\nJOB"
    return f"{path} {script} {{log:q}} {job}"


def code_digest(step, *plugins):
    """Reruns a step when its script, code that it imports, or that of its plug-ins, changes."""
    CODE_DIGESTS[step] = digest_of_code(ROOT, HOME / "scripts" / f"{step}.py", *plugins)
    return CODE_DIGESTS[step]


def code_of_results(wildcards):
    """The code digests of the steps by which what is kept comes about; when all rules are read."""
    return {
        step: digest
        for step, digest in sorted(CODE_DIGESTS.items())
        if step not in IDLE_STEPS and not STEPS[step].only_looks
    }


def settings(**values):
    """The param `settings`: what a step is told beside its files, wildcards among it; the step is
    run again when it changes.

    values: as they are, or functions of the wildcards.
    """

    def as_json(wildcards):
        told = {
            name: value(wildcards) if callable(value) else value
            for name, value in values.items()
        }
        return json.dumps(
            told | dict(wildcards.items()), sort_keys=True, default=as_given
        )

    as_json.names = values.keys()
    return quickly_called(as_json)


@quickly_called
def named_paths(wildcards, input, output):
    """The param `paths`: the files of a job by their names in the rule. An input without a name
    is waited for, and no business of the step."""
    return json.dumps(dict(input.items()) | dict(output.items()))


def steps():
    """The rules of this workflow that run a step, in order, each with the step's name."""
    for ours in workflow.rules:
        step = re.search(r"SCRIPTS/(\w+)\.py", ours.shellcmd or "")
        if step and ours in MODIFIER.rules:
            yield ours, step[1]


def check_steps():
    """Stop if a rule does not give just what its step takes. Behind all rules."""
    faults = []
    for ours, step in steps():
        files = [*ours.input.keys(), *ours.output.keys()]
        given = [*files, *ours.params.settings.names]
        takes = parameters(HOME / "scripts" / f"{step}.py", ROOT)
        faults += mismatches(ours.name, given, ours.wildcard_names, takes)
    if faults:
        raise WorkflowError("\n".join(sorted(faults)))


def outside(files):
    """Input files are where the user has them, whatever prefix a module is used with."""
    if not IS_MODULE:
        return files
    return lambda wildcards: [os.path.abspath(path) for path in files(wildcards)]


def made_files(wildcards=None):
    """Every file that a run of this configuration makes, but for the demo's, which are input, and
    exports, which come after the manifest: one more is no other manifest."""
    made = {}
    for ours, step in steps():
        if step not in {*IDLE_STEPS, "export"}:
            for file in [*ours.output, *ours.log, ours.benchmark]:
                # Snakemake has written the constraint of each wildcard behind its name.
                file = re.sub(
                    r"\{(\w+),(?:[^{}]|\{[^{}]*\})*\}", r"{\1}", str(file or "")
                )
                if file and not file.startswith(str(placed(DEMO))):
                    made |= dict(LAYOUT.numbered(file))
    return made


def if_cut(files):
    """The function of the wildcards if spans are cut, otherwise no files."""
    return files if LAYOUT.cuts_spans else []


def if_edited(files):
    """The function of the wildcards if filters cut pieces out of texts, otherwise no files."""
    return files if LAYOUT.edits else []


def training_text():
    wanted = CONFIG.tokenizer.source == "train"
    return [LAYOUT.text_shard.format(split="train", shard="00000")] if wanted else []


def memory_asked(job):
    """The mem_mb of a job as Snakemake evaluates it, but not yet limited by --resources; 0 where
    nothing asks for any, or for a multiple of files that are not there yet."""
    asked, _ = job.rule.apply_input_function(
        job.rule.resources.get("mem_mb").evaluate,
        job.wildcards_dict,
        input=job.input,
        attempt=1,
        threads=lambda: job.threads,
        rulename=job.rule.name,
        async_run=workflow.async_run,
    )
    return asked.value if isinstance(asked.value, int) else 0


def jobs_to_do():
    """By rule the memory that its jobs may hold, and the logs of those that are to be done."""
    needs, logs = {}, {}
    for job in workflow.dag.jobs:
        needs[job.rule.name] = max(memory_asked(job), needs.get(job.rule.name, 0))
    for job in workflow.dag.needrun_jobs():
        logs.setdefault(job.rule.name, []).extend(map(str, job.log))
    return {rule: RuleJobs(needs[rule], logs.get(rule, [])) for rule in needs}


def refuse_too_little_memory(rules):
    """Snakemake would run what needs more memory than --resources mem_mb allows all the same, and
    believe that it takes no more."""
    allowed = workflow.global_resources.get("mem_mb")
    if allowed is None or allowed.value is None:
        return
    needs = [(jobs.mem_mb, rule) for rule, jobs in rules.items() if jobs.logs]
    need, rule = max(needs, default=(0, ""))
    if need > allowed.value:
        stop(
            f"--resources mem_mb allows {allowed.value} MB, and {rule} needs {need}. Allow more, or "
            "lower input.part_bytes and output.shard_bytes."
        )


def note_needs():
    """Say from now on if a job may hold more than --resources mem_mb allows: of what was read, or
    at another attempt, more than was known when the run began. Snakemake counts it as no more than
    is allowed, so what runs beside it may be too much."""
    allowed = workflow.global_resources.get("mem_mb")
    if allowed is None or allowed.value is None:
        return
    told = [allowed.value]

    def hear(megabytes):
        if megabytes > told[-1]:
            told.append(megabytes)
            note(
                f"--resources mem_mb allows {allowed.value} MB, and a job may hold {megabytes}, as "
                "is known by now. Jobs beside it may be too many: allow more, or fewer --cores."
            )

    LAYOUT.hear_need = hear


def recipes():
    """By job the recipe of its files, of all jobs of this run, to be done or not."""
    made, step_of = {}, dict(steps())
    for level in workflow.dag.toposorted():
        for job in level:
            step = step_of.get(job.rule)
            if step is None:
                continue
            told = {
                name: value for name, value in job.params.items() if name != "paths"
            }
            inputs = [
                (name_of(file), made[maker].digest)
                for maker, files in workflow.dag.dependencies[job].items()
                if maker in made
                for file in files
            ]
            digest = recipe_of(step, [json.dumps(told, sort_keys=True)], inputs)
            made[job] = Recipe(settings_digest(told["settings"]), digest)
    return made


def behind_barriers(maker):
    """What is told of the files behind barriers that jobs of this run read, and that no job of it
    makes. maker: the job of each file."""
    dag = workflow.dag
    for stage in LAYOUT.stages:
        listing = placed(f"results/{stage}/complete.json")
        barrier = maker.get(str(listing))
        if barrier is None or not any(map(dag.needrun, dag.depending[barrier])):
            continue
        if not dag.needrun(barrier):
            yield from load_json(listing)["parts"]
            continue
        for file in map(placed, LAYOUT.every(COUNTS[stage])):
            if not dag.needrun(maker[str(file)]):
                yield load_json(file)


def make_again(made):
    """Have also those jobs run whose files are of another recipe, or behind a barrier and gone.
    made: the recipe of each job."""
    dag = workflow.dag
    maker = {str(file): job for job in made for file in job.output}
    others = [
        file
        for job, recipe in made.items()
        if not dag.needrun(job)
        for file in made_otherwise(job.output, recipe.digest)
    ]
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        note(
            f"{others[0]}{more}: made from other settings, code or inputs than those of this run, "
            "so made again"
        )
    again = others
    while True:
        dag.forcefiles.update(*(maker[file].output for file in again))
        if again:
            workflow.async_run(dag.postprocess())
        again = [
            file
            for file in map(str, lost_files(behind_barriers(maker), placed("results")))
            if file in maker
            and not dag.needrun(maker[file])
            and file not in dag.forcefiles
        ]
        if not again:
            return
        for file in again:
            print(f"{file} is gone: it is made anew", file=sys.stderr)


def exported():
    """What exports take on disk, for a byte of token shards."""
    forms = CONFIG.output.exports
    if not forms:
        return 0
    from corpusmill.tools.export.exporting import (
        disk_share,
    )  # and with it numpy and pyarrow

    return disk_share(forms)


def faults_of_exports():
    """Why exports would fail at the end; in conda nobody knows here what jobs have."""
    forms = CONFIG.output.exports
    if not forms or IN_CONDA:
        return []
    from corpusmill.tools.export.exporting import faults_ahead

    told = told_of_tokenizer(CONFIG, EARLY_CHECKS, placed("results"))
    return faults_ahead(forms, told["vocabulary"])


def finish_checks():
    """Stop the run if its tokenizer, input files or exports cannot be meant, or the disk is too
    small; note what may be meant, and is likely not to be."""
    faults = faults_of(EARLY_CHECKS)
    if workflow.is_main_process and not faults:
        faults += faults_of_exports()
    if workflow.is_main_process:
        wanted = expected_disk(CONFIG, LAYOUT, exported())
        faults += disk_faults(wanted.least, placed("results"))
        faults += clock_faults(LAYOUT.input_files, placed("results"), time.time_ns())
    if faults:
        stop("\n".join(faults))
    for noticed in [*LAYOUT.skipped, *notes_of(EARLY_CHECKS)]:
        note(noticed)


def begin_run():
    """What comes before the first job: the answers of the checks, and a note of what will be
    made."""
    global RUN
    finish_checks()
    if not workflow.is_main_process:
        return
    handle_beside(signal.SIGTERM)
    made = recipes()
    try:
        # Whoever says --touch believes what is there until the next run.
        if not workflow.touch:
            make_again(made)
        to_do = jobs_to_do()
        refuse_too_little_memory(to_do)
        record.begin(made_files(), RECORD, LAYOUT.noted)
    except ValueError as error:
        stop(error)
    if not IS_MODULE:
        one_at_a_time.begin_run()
        # Another run's may have stood here, which came first and was refused by this one's lock.
        RUN = os.environ[one_at_a_time.RUN]
        announcement.go_on(ANNOUNCEMENT, RUN)
    # After the note of the run: a job of an earlier one that finds them has to find the note, too.
    save_recipes(
        placed("results/plan/recipes"),
        {name_of(file): recipe for job, recipe in made.items() for file in job.output},
    )
    save_job_list(to_do, placed(JOB_LIST), RUN)
    note_needs()
    SPARED.clear()
    if on_cluster():
        # Each job does so itself, unless it is killed before; then its old log would be shown.
        for jobs in to_do.values():
            for log in map(Path, jobs.logs):
                log.unlink(missing_ok=True)
                state_file(log).unlink(missing_ok=True)


def hear_end_of_job(told):
    """Why a job of a cluster failed, once it has."""
    ENDS_OF_JOBS.append(told)
    tell("note", told)


def watch_jobs_of_slurm():
    """Have the executor of SLURM, where it is installed, look at jobs in our way."""
    plugins = ExecutorPluginRegistry()
    if workflow.is_main_process and not IS_MODULE and plugins.is_installed("slurm"):
        slurm = plugins.get_plugin("slurm")
        slurm.executor = watched(slurm.executor, hear_end_of_job, SPARED)


def show_ends_of_jobs():
    """Why jobs of a cluster failed, last of all; Snakemake has said so among much else."""
    for end in ENDS_OF_JOBS:
        print(end, file=sys.stderr)


def show_result():
    """The account of the run, for the person at the terminal; and what it read that was other."""
    table = placed("results/summary.txt")
    if table.exists():
        print(table.read_text("utf-8"), file=sys.stderr)
    finished = record.load_record(RECORD)["finished"]
    if finished and CONFIG.input.verify != "never":
        if told := told_replaced(finished["inputs"], LAYOUT.read_before):
            print(f"NOTE: {told}", file=sys.stderr)
