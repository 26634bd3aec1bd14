"""Run directories: what a run was asked to do, what it did so far, how to resume it.

    config.json              what was asked for; written last, so a directory with it is complete
    provenance.json          the command, versions and machine it was made with
    demonstrations/0.npz …   copies of the files it was started with; may be none
    metrics.jsonl            one line per update, without wall time
    clock.jsonl              {"frames", "seconds"} now and then: wall time, never compared
    processes.jsonl          who worked on it: a line for each process, with command and versions
    checkpoints/N.safetensors  all that going on needs, named by frames; the last two are kept
    result.json              at the end: what was measured
    extended.json            the job with more frames, if it was asked for later
    lock                     held while a process works here

Comes in: plain data and numpy arrays. Goes out: the same, exactly as it was saved, or an error that
says what is damaged. Does not know: what the data means, nor torch. A process may be killed at any
moment and a disk may fill up: what was saved stays sound. Nothing that is read runs code.
"""

from backplay.runs.checkpoints import Loaded as Loaded
from backplay.runs.directory import create as create
from backplay.runs.directory import is_run as is_run
from backplay.runs.directory import open_run as open_run
from backplay.runs.directory import require_free as require_free
from backplay.runs.run import Run as Run
