"""Programs of this service that start in a tenth of the CPU time: forked from a parent that has imported everything."""

import atexit
import functools
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from config.environment.variables import BASE_DIR


class Program(subprocess.Popen[str]):
    """A running program, such as `["python", "manage.py", "check"]`, with the options of Popen, always with text.

    `words` begin with `python` (then `-c`, `-m` or a file), `celery` or `granian`.
    """

    def __init__(self, words: Sequence[str], environment: Mapping[str, str] | None = None, **options: Any) -> None:
        environment = os.environ if environment is None else environment
        super().__init__(words, env=environment, text=True, **options)

    def _execute_child(self, args: Any, *options: Any) -> None:
        # By position, as Popen passes them: the ends of pipes are the child's and the parent's, or -1 both.
        env, start_new_session, ends = options[5], options[-2], options[9:15]
        pairs = [(ends[0], ends[1]), (ends[3], ends[2]), (ends[5], ends[4])]
        request = {
            "words": [os.fspath(word) for word in args],
            "environment": dict(env),
            "leads_session": start_new_session,
            "open_files": resource.getrlimit(resource.RLIMIT_NOFILE),
        }
        files = [standard if own == -1 else own for standard, (own, _) in enumerate(pairs)]
        self._status, status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with status:
            socket.send_fds(_parent(), [json.dumps(request).encode()], [*files, status.fileno()])
        self.pid = int(self._status.recv(64))
        for file in {own for own, ours in pairs if ours != -1} | {*filter(None, [getattr(self, "_devnull", None)])}:
            os.close(file)
        self._closed_child_pipe_fds = True

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if wait_flags == os.WNOHANG and not select.select([self._status], [], [], 0)[0]:
            return 0, 0
        # Without a status, the parent was killed, and the program with it.
        status = int(self._status.recv(64) or signal.SIGKILL)
        self._status.close()
        return self.pid, status

    def _internal_poll(self, _deadstate: Any = None) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(False):
            try:
                process_id, status = self._try_wait(os.WNOHANG)
                if process_id:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


def run_program(
    words: Sequence[str], environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end."""
    pipe = subprocess.PIPE
    with Program(words, environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe) as running:
        try:
            stdout, stderr = running.communicate(timeout=300)
        except BaseException:
            running.kill()
            raise
        return subprocess.CompletedProcess(words, running.wait(), stdout, stderr)


@functools.cache
def _parent() -> socket.socket:
    """Start the parent of all programs of this process; it ends when the socket is closed, with this process."""
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.processes.forking.parent", str(theirs.fileno())],
            cwd=BASE_DIR,
            env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"},
            pass_fds=[theirs.fileno()],
        )

    def end() -> None:
        control.close()
        process.wait()

    atexit.register(end)
    return control
