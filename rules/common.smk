"""Objects and functions that the rules use: configuration, inputs, layout, start and end of a run.

No rules here. Everything that does not need Snakemake is in corpusmill/run.
"""

import atexit
import gc
import os
import signal
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

# Tens of thousands of jobs are millions of permanent objects. With the default threshold, garbage
# collection took an eighth of a dry run.
gc.set_threshold(1_000_000, 10, 10)
# Without this, Python would look through all objects several times as it exits.
atexit.register(gc.freeze)

# The workflow's own files, even if another workflow uses it as a module. The package is beside
# them, or around them when installed.
HOME = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
ROOT = HOME if (HOME / "corpusmill").is_dir() else HOME.parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

# Keep our modifier: when jobs are created, another workflow's may be current.
MODIFIER = workflow.modifier
IS_MODULE = MODIFIER.parent_modifier is not None

if not IS_MODULE:
    # Threads that OpenBLAS starts when numpy is imported take CPU time while they wait.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def placed(path):
    """Return the real path of a rule's file, which a module's prefix may change."""
    return Path(MODIFIER.modify_path(str(path)))


from corpusmill.run import warm
from corpusmill.run.announcement import ANNOUNCEMENT
from corpusmill.run.job_environment import job_environment
from corpusmill.run.this_run import ThisRun

IN_CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
RESULTS = placed("results")
os.environ.update(job_environment(HOME, ROOT, IN_CONDA))


def server_of_jobs():
    """Start the server that forks the jobs of this run."""
    return warm.started(ROOT, HOME / "scripts", RESULTS / "tokenizer")


# Early, as it imports while Snakemake works, but not if there is probably nothing to do.
SERVER = None
if (
    workflow.is_main_process
    and not workflow.output_settings.dryrun
    and not IN_CONDA
    and not IS_MODULE
    and not (RESULTS / "report.html").exists()
):
    SERVER = server_of_jobs()

RUN = ThisRun(workflow, placed(ANNOUNCEMENT), IS_MODULE)
RUN.announce()

from corpusmill.mill.demo.files import DEMO, GENERATED
from corpusmill.run import record
from corpusmill.run.config import config_digest
from corpusmill.run.disk import unwritable
from corpusmill.run.early_checks import early_checks, notes_of
from corpusmill.run.early_shortages import likely_shortages
from corpusmill.run.input_files import told_replaced
from corpusmill.run.job_list import JOB_LIST, save_job_list
from corpusmill.run.job_state import state_file
from corpusmill.run.jobs_to_do import (
    allowed_megabytes,
    jobs_to_do,
    note_needs,
    refuse_too_little_memory,
)
from corpusmill.run.layout import Layout, joined_name
from corpusmill.run.made_again import MadeAgain, by_file, recipes_of
from corpusmill.run.memory import Memory
from corpusmill.run.recipes import RECIPES, save_recipes
from corpusmill.run.slurm import Spared, watched
from corpusmill.run.step_rules import StepRules, named_paths, run_script, settings
from corpusmill.run.step_settings import StepSettings
from corpusmill.run.termination import handle_beside
from corpusmill.run.tokenizer_source import (
    local_tokenizer,
    states_of_files,
    tokenizer_files,
)
from corpusmill.run.workflow_config import module_config, workflow_config
from corpusmill.tools.export.before_run import faults_before_run

RECORD = placed(record.RECORD)
RUN.name_jobs(placed("logs/run"))


def on_cluster():
    """Say whether jobs run on a cluster, each in its own Snakemake. Call only when jobs exist."""
    return workflow.non_local_exec or workflow.remote_exec


def planned():
    """Check configuration and inputs; return these, the layout and the checks in progress."""
    try:
        if IS_MODULE:
            checked = module_config(HOME / "config.yaml", config)
        else:
            checked = workflow_config(workflow, config)
        if faults := unwritable(RESULTS):
            raise ValueError(faults[0])
        layout = Layout.planned(checked, RESULTS, GENERATED)
        if not workflow.is_main_process:
            return checked, layout, []
        if checked.input.verify == "always":
            layout.inputs.note_replaced(RESULTS)
        if IN_CONDA:
            return checked, layout, []
        asks_hub = not workflow.output_settings.dryrun
        checks = early_checks(checked, layout.inputs, RESULTS, ROOT, asks_hub)
        return checked, layout, checks
    except ValueError as error:
        RUN.stop(error)


CONFIG, LAYOUT, EARLY_CHECKS = planned()
INPUTS = LAYOUT.inputs
SETTINGS = StepSettings(CONFIG, INPUTS)
SPARED = Spared(placed("logs/spared.json"))
MEMORY = Memory(CONFIG, LAYOUT, RESULTS, on_cluster, SPARED.of)
STEP_RULES = StepRules(workflow, MODIFIER, HOME, ROOT, CONFIG, LAYOUT)
code_digest = STEP_RULES.code_digest
# One line per failed cluster job.
ENDS_OF_JOBS = []


def outside(files):
    """Make input paths absolute in a module, so that its prefix does not apply to them."""
    if not IS_MODULE:
        return files
    return lambda wildcards: [os.path.abspath(path) for path in files(wildcards)]


def finish_reading():
    """After all rules: stop if a rule and its step do not match, and replace the status check of
    the SLURM executor if that is installed."""
    if faults := STEP_RULES.faults():
        raise WorkflowError("\n".join(faults))
    plugins = ExecutorPluginRegistry()
    if workflow.is_main_process and not IS_MODULE and plugins.is_installed("slurm"):
        slurm = plugins.get_plugin("slurm")
        slurm.executor = watched(slurm.executor, hear_end_of_job, SPARED)
    # A run with nothing to do need not wait for the checks.
    if workflow.output_settings.dryrun:
        finish_checks()
    RUN.is_read = True


def hear_end_of_job(told):
    """Keep and report the reason why a cluster job failed."""
    ENDS_OF_JOBS.append(told)
    RUN.tell("note", told)


def finish_checks():
    """Stop the run if tokenizer, input files or exports are unusable or the disk is too small; note
    likely mistakes."""
    if not workflow.is_main_process:
        return
    if faults := faults_before_run(CONFIG, LAYOUT, EARLY_CHECKS, RESULTS, not IN_CONDA):
        RUN.stop("\n".join(faults))
    likely = likely_shortages(CONFIG, INPUTS.milled)
    for noticed in [*INPUTS.skipped, *LAYOUT.notes(), *notes_of(EARLY_CHECKS), *likely]:
        RUN.note(noticed)


def begin_run():
    """Prepare the first job: wait for the checks, and record the files to be made."""
    if workflow.is_main_process and on_cluster():
        warm.begin(SERVER, {})
    elif workflow.is_main_process:
        jobs = STEP_RULES.jobs_to_do()
        is_worth_it = not IN_CONDA and sum(jobs.values()) >= warm.FEWEST_JOBS
        warm.begin(SERVER or (server_of_jobs() if is_worth_it else None), jobs)
        # The limit of starts per second is for clusters. With one, Snakemake starts a timer at each
        # start of jobs, and waits a second for the last timer before it exits.
        workflow.scheduler.job_rate_limiter = None
    finish_checks()
    if not workflow.is_main_process:
        return
    handle_beside(signal.SIGTERM)
    made = recipes_of(workflow.dag, dict(STEP_RULES))
    allowed = allowed_megabytes(workflow)
    try:
        # With --touch, users accept existing files until the next run.
        if not workflow.touch:
            MadeAgain(workflow, made, LAYOUT, placed).ask_for(RUN.note)
        to_do = jobs_to_do(workflow)
        refuse_too_little_memory(allowed, to_do)
        record.begin(STEP_RULES.made_files(), RECORD, INPUTS.noted)
    except ValueError as error:
        RUN.stop(error)
    RUN.begin()
    # After the run's note: a job of an earlier run that reads these must find the note, too.
    save_recipes(RESULTS / RECIPES, by_file(made))
    save_job_list(to_do, placed(JOB_LIST), RUN.name)
    note_needs(allowed, MEMORY, RUN.note)
    SPARED.clear()
    if on_cluster():
        # A job removes its old log itself, but if it is killed before, the old log would be shown.
        for jobs in to_do.values():
            for log in map(Path, jobs.logs):
                log.unlink(missing_ok=True)
                state_file(log).unlink(missing_ok=True)


def show_result():
    """Print the account of the run, and which input files have changed since the last run."""
    table = placed("results/summary.txt")
    if table.exists():
        print(table.read_text("utf-8"), file=sys.stderr)
    finished = record.load_record(RECORD)["finished"]
    if finished and CONFIG.input.verify != "never":
        if told := told_replaced(finished["inputs"], INPUTS.read_before):
            print(f"NOTE: {told}", file=sys.stderr)
