"""A process that uses the bundled servers, driven line by line by tests/development/test_bundled_servers.py.

The command `hold` keeps the servers running and prints their addresses, or the reason why not; `deny` forbids this
process and its children to make user namespaces, as Docker's default rules do.
"""

import ctypes
import errno
import json
import platform
import struct
import sys

from django.core.exceptions import ImproperlyConfigured

from development.servers import bundled
from development.servers.processes import call_libc

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_UNSHARE = {"x86_64": 272, "aarch64": 97}[platform.machine()]


def deny_namespaces() -> None:
    """Have the kernel refuse unshare(2) from here on."""
    steps = [(_LOAD, 0, 0, 0), (_JUMP_IF_EQUAL, 0, 1, _UNSHARE), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(code)))
    call_libc("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call_libc("prctl", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0)


def hold() -> dict[str, str]:
    """Return the addresses of the servers, or the refusal."""
    try:
        bundled.ensure_running(durable=False)
    except ImproperlyConfigured as error:
        return {"refused": str(error)}
    return {"postgres": bundled.database_url(), "valkey": bundled.redis_url()}


if __name__ == "__main__":
    for line in sys.stdin:
        answer = hold() if line.strip() == "hold" else deny_namespaces()
        print(json.dumps(answer), flush=True)
