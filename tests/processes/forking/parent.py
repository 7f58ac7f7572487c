"""The parent of forked programs (`tests.processes.forking.program`): it has imported all modules, and has one thread.

A child starts as the program does, apart from imports: it reads its own settings, and sets up all apps. Another value
for a setting that modules have read at import needs a new interpreter.
"""

import atexit
import gc
import importlib
import json
import os
import resource
import runpy
import selectors
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from typing import Any, Never

from django.apps import AppConfig, apps
from django.conf import LazySettings, global_settings, settings
from django.core.cache import caches
from django.db import connections
from django.utils.functional import empty

from config.environment.variables import BASE_DIR
from development.servers.processes import die_with_parent

# Longest request: words and environment in JSON.
MAX_REQUEST = 1 << 17
# Standard input, output and errors, and the socket for process id and status.
_DESCRIPTORS = 4
# Settings that modules read at import, and that a child applies nevertheless.
_APPLIED = {"AXES_FAILURE_LIMIT", "DATABASES", "DEBUG", "INSTALLED_APPS", "LOGGING", "REDIS_SENTINELS", "REDIS_URL"}
_PACKAGES = ("accounts", "config", "development", "leaderboard", "pretokens", "tokens")
# The first begins to serve, and the others are imported by their apps only.
_OTHER_MODULES = {"config.wsgi", "config.watching.error_reports", "config.watching.traces"}
_MODULES = (
    *("celery.__main__", "celery.bin.worker", "celery.bin.beat", "celery.apps.worker", "celery.apps.beat"),
    *("celery.concurrency.prefork", "celery.worker.consumer", "celery.worker.strategy", "celery.fixups.django"),
    *("granian.cli", "granian.server.mp", "granian._loops", "granian._signals"),
    *("kombu.transport.redis", "kombu.pidbox"),
    *("config.events.stream.__main__", "django.core.management.commands.migrate", "manage"),
)


def main(descriptor: int) -> None:
    """Fork a child for each request on this socket, until it is closed; then kill all children."""
    _import_all()
    read_early = {name: value for name, value in settings.__dict__.items() if name not in {*_APPLIED, "_wrapped"}}
    _keep_defaults()
    gc.collect()
    gc.freeze()
    control = socket.socket(fileno=descriptor)
    running: dict[int, tuple[int, socket.socket]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not control:
                    process_id, status = running.pop(key.fd)
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    _send(status, os.waitpid(process_id, 0)[1])
                    status.close()
                    continue
                request, descriptors, *_ = socket.recv_fds(control, MAX_REQUEST, _DESCRIPTORS)
                if not request:
                    _end_all([process_id for process_id, _ in running.values()])
                    return
                *files, last = descriptors
                status = socket.socket(fileno=last)
                ends_with_us = die_with_parent(signal.SIGKILL)
                process_id = os.fork()
                if process_id == 0:
                    ends_with_us()
                    for _, other in (*running.values(), (0, status), (0, control)):
                        other.close()
                    selector.close()
                    _become(json.loads(request), files, read_early)
                for file in files:
                    os.close(file)
                _send(status, process_id)
                process = os.pidfd_open(process_id)
                running[process] = process_id, status
                selector.register(process, selectors.EVENT_READ)


def _end_all(process_ids: list[int]) -> None:
    """Kill the children, each with its own session."""
    for process_id in process_ids:
        os.kill(process_id, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.killpg(process_id, signal.SIGKILL)
        os.waitpid(process_id, 0)


def _send(status: socket.socket, number: int) -> None:
    # The test may have ended.
    with suppress(OSError):
        status.send(b"%d" % number)


def _import_all() -> None:
    """Import what the programs import, and load all models; no app is ready yet."""
    for entry in settings.INSTALLED_APPS:
        app = AppConfig.create(entry)
        apps.app_configs[app.label], app.apps = app, apps
    apps.apps_ready = True
    for app in apps.get_app_configs():
        app.import_models()
    apps.models_ready = apps.ready = True
    files = (path.relative_to(BASE_DIR) for package in _PACKAGES for path in (BASE_DIR / package).rglob("*.py"))
    modules = [".".join(path.with_suffix("").parts) for path in files if "node_modules" not in path.parts]
    middleware = (path.rpartition(".")[0] for path in settings.MIDDLEWARE)
    for module in (*_MODULES, *middleware, *filter(_is_program, modules)):
        importlib.import_module(module)


def _keep_defaults() -> None:
    """Add the defaults to all later settings that packages added at import."""
    module = sys.modules["config.settings"].__dict__
    added = {name: value for name, value in settings._wrapped.__dict__.items() if name.isupper()}
    added = {name: added[name] for name in added if name not in module and not hasattr(global_settings, name)}
    set_up = LazySettings._setup

    def set_up_with_defaults(own: LazySettings, name: str | None = None) -> None:
        set_up(own, name)
        own._wrapped.__dict__.update(added)

    LazySettings._setup = set_up_with_defaults


def _is_program(module: str) -> bool:
    """Return whether a program may import the module: not those that act at import, or need more packages.

    Pages of the admin site are registered at import, at a site that an app makes when it is ready.
    """
    others = {"migrations", "admin", "dashboard", "urls", "__init__", "__main__"}
    return module not in _OTHER_MODULES and not others & set(module.split("."))


def _become(request: dict[str, Any], files: list[int], read_early: dict[str, Any]) -> Never:
    status = 1
    try:
        for standard, file in enumerate(files):
            os.dup2(file, standard)
        os.closerange(3, max(files) + 1)
        if request["leads_session"]:
            os.setsid()
        # A shell without job control ignores SIGINT in its background processes.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_NOFILE, tuple(request["open_files"]))
        os.environ.clear()
        os.environ.update(request["environment"])
        if _has_other(read_early):
            _start_anew(request["words"])
        _forget()
        _run(request["words"])
        status = 0
    except SystemExit as ended:
        status = _exit_status(ended.code)
    except BaseException:
        traceback.print_exc()
    finally:
        _end(status)


def _has_other(read_early: dict[str, Any]) -> bool:
    """Return whether a setting that modules have read already has another value here."""
    _forget()
    try:
        return any(getattr(settings, name) != value for name, value in read_early.items())
    except Exception:
        # The program reports it.
        return False


def _start_anew(words: list[str]) -> Never:
    """Replace this process by the program in a new interpreter."""
    program = sys.executable if words[0] == "python" else words[0]
    os.execvpe(program, [program, *words[1:]], os.environ)  # noqa: S606


def _forget() -> None:
    """Forget settings, connections and the apps' state, which the program sets up."""
    settings.__dict__.clear()
    settings._wrapped = empty
    for package, name in (("config", "settings"), ("development", "setting_overrides")):
        sys.modules.pop(f"{package}.{name}", None)
        # `from config import settings` finds it there.
        vars(sys.modules[package]).pop(name, None)
    for handler in (connections, caches):
        handler.__dict__.clear()
        handler.__init__()
    apps.app_configs.clear()
    apps.apps_ready = apps.models_ready = apps.ready = apps.loading = False
    apps.clear_cache()


def _run(words: list[str]) -> None:
    program, *arguments = sys.argv = words
    if program == "granian":
        importlib.import_module("granian.cli").entrypoint()
    elif program == "celery":
        importlib.import_module("celery.__main__").main()
    else:
        sys.argv = [word for word in arguments if word not in ("-c", "-m")]
        match arguments:
            case ["-m", module, *_]:
                # It runs anew, as `__main__`; a package runs its own module of this name.
                is_package = hasattr(sys.modules.get(module), "__path__")
                sys.modules.pop(f"{module}.__main__" if is_package else module, None)
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            case ["-c", code, *_]:
                exec(code, {"__name__": "__main__"})  # noqa: S102
            case [path, *_]:
                runpy.run_path(path, run_name="__main__")


def _exit_status(code: object) -> int:
    if isinstance(code, int):
        return code
    if code is not None:
        print(code, file=sys.stderr)
    return int(code is not None)


def _end(status: int) -> Never:
    """End as the interpreter does, without freeing memory."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main(int(sys.argv[1]))
