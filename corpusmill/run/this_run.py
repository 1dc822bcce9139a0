"""The run of this Snakemake, as people are told of it: announced first of all, then its notes, and
how it ended."""

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
        """workflow: Snakemake's, which may be another run's of which ours is a module."""
        self._workflow, self._path, self._is_module = workflow, announced, is_module
        self.name = os.environ.pop(announcement.ANNOUNCED, "")
        """"" of a run that nobody announces."""
        self.is_read = False
        """Whether the workflow was read to its end."""

    def announce(self) -> None:
        """Announce this run before the workflow is read, and at its end what became of it.

        Of modules a run may have several, and whoever runs others' rules is no run of ours.
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
        """Name this run for its jobs, unless it is a module; stop in a job of a cluster whose run
        was followed by another. note: which run is the folder's."""
        if self._workflow.is_main_process:
            # Of modules, of which a run may have several, jobs alone are kept apart.
            if not self._is_module:
                one_at_a_time.name_run(note, self.name)
        elif self._workflow.remote_exec:
            # Before Snakemake removes this job's outputs, which may be the next run's by now.
            try:
                one_at_a_time.refuse_if_followed()
            except ValueError as error:
                self.stop(f"error: {error}")

    def begin(self) -> None:
        """Take the folder, before the first job."""
        if not self._is_module:
            one_at_a_time.begin_run()
            # Another run's may have stood here, which came first and was refused by this one's
            # lock.
            self.name = os.environ[one_at_a_time.RUN]
            announcement.go_on(self._path, self.name)

    def tell(self, event: str, text: str) -> None:
        """Let `corpusmill run` know, which shows nothing of what is printed here."""
        pipe = os.environ.get("CORPUSMILL_EVENTS")
        if self._workflow.is_main_process and pipe:
            line = json.dumps({"event": event, "text": text}) + "\n"
            os.write(int(pipe), line.encode())

    def note(self, text: str) -> None:
        """Say what may be meant, and is likely not to be."""
        print(told_lines(f"NOTE: {text}"), file=sys.stderr)
        self.tell("note", text)

    def stop(self, reason: object) -> NoReturn:
        """End with a reason in a line or a few, no traceback."""
        print(told_lines(str(reason)), file=sys.stderr)
        self.tell("refused", str(reason))
        self.end(announcement.FAILED, str(reason))
        sys.exit(1)

    def end(self, outcome: str = announcement.FINISHED, reason: str = "") -> None:
        """Say how this run ended, unless that is said."""
        try:
            announcement.end(self._path, self.name, outcome, reason)
        except OSError as error:
            print(f"error: {in_words(error)}", file=sys.stderr)

    def _conclude(self) -> None:
        """Say so of a run that did not itself; undo the announcement if this Snakemake ran
        nothing."""
        workflow = self._workflow
        if self.is_read and workflow.execution_settings is None:
            announcement.withdraw(self._path, self.name)
            return
        # There is a scheduler as soon as Snakemake knows what is to be done.
        has_nothing_to_do = workflow.scheduler is not None and not len(workflow.dag)
        self.end(announcement.NOTHING if has_nothing_to_do else announcement.FAILED)
