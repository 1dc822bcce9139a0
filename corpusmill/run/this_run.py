"""The run of this Snakemake as reported to users: its announcement, its notes and its outcome."""

import atexit
import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from corpusmill.messages.disk_errors import in_words
from corpusmill.messages.plain_text import told_lines
from corpusmill.run import announcement, one_at_a_time
from corpusmill.run.disk import unwritable


class ThisRun:
    def __init__(self, workflow: Any, announced: Path, is_module: bool) -> None:
        """workflow: Snakemake's, which may belong to a workflow that uses ours as a module."""
        self._workflow, self._path, self._is_module = workflow, announced, is_module
        self.name = os.environ.pop(announcement.ANNOUNCED, "")
        """Name of the run; "" if it is not announced."""
        self.is_read = False
        """Whether Snakemake has read the whole workflow."""

    def announce(self) -> None:
        """Announce this run before the workflow is read, and save its outcome at exit.

        Modules do not announce: a run may have several, and it is not a run of ours.
        """
        workflow = self._workflow
        if self._is_module or not workflow.is_main_process or workflow.output_settings.dryrun:
            self.name = ""
            return
        if faults := unwritable(self._path.parent):
            self.stop(faults[0])
        try:
            self.name = self.name or announcement.announce(self._path)
            if self.name:
                announcement.go_on(self._path, self.name)
        except OSError as error:
            self.stop(f"error: {in_words(error)}")
        atexit.register(self._conclude)

    def name_jobs(self, note: Path) -> None:
        """Name this run for its jobs, unless it is a module.

        In a cluster job, stop if another run has begun since. note: file with the folder's current
        run.
        """
        if self._workflow.is_main_process:
            # A run may have several modules, so for modules only jobs are kept apart.
            if not self._is_module:
                one_at_a_time.name_run(note, self.name)
        elif self._workflow.remote_exec:
            # Before Snakemake removes this job's outputs, which the next run may have made by now.
            try:
                one_at_a_time.refuse_if_followed()
            except ValueError as error:
                self.stop(f"error: {error}")

    def begin(self) -> None:
        """Make this the folder's current run, before the first job."""
        if not self._is_module:
            one_at_a_time.begin_run()
            # A run that announced first may have replaced the name; this run's lock refused it.
            self.name = os.environ[one_at_a_time.RUN]
            announcement.go_on(self._path, self.name)

    def tell(self, event: str, text: str) -> None:
        """Send an event to `corpusmill run`, which does not show what is printed here."""
        pipe = os.environ.get("CORPUSMILL_EVENTS")
        if self._workflow.is_main_process and pipe:
            line = json.dumps({"event": event, "text": text}) + "\n"
            os.write(int(pipe), line.encode())

    def note(self, text: str) -> None:
        """Report a likely mistake that does not stop the run."""
        print(told_lines(f"NOTE: {text}"), file=sys.stderr)
        self.tell("note", text)

    def stop(self, reason: object) -> NoReturn:
        """Exit with a reason of one or a few lines, without traceback."""
        print(told_lines(str(reason)), file=sys.stderr)
        self.tell("refused", str(reason))
        self.end(announcement.FAILED, str(reason))
        sys.exit(1)

    def end(self, outcome: str = announcement.FINISHED, reason: str = "") -> None:
        """Save how this run ended, unless that is saved already."""
        try:
            announcement.end(self._path, self.name, outcome, reason)
        except OSError as error:
            print(f"error: {in_words(error)}", file=sys.stderr)

    def _conclude(self) -> None:
        """Save the outcome of a run that did not do so; withdraw a run that ran nothing."""
        workflow = self._workflow
        if self.is_read and workflow.execution_settings is None:
            announcement.withdraw(self._path, self.name)
            return
        # Snakemake creates the scheduler once it knows which jobs to run.
        has_nothing_to_do = workflow.scheduler is not None and not len(workflow.dag)
        self.end(announcement.NOTHING if has_nothing_to_do else announcement.FAILED)
