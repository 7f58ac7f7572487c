"""Debian's redis-server and redis-sentinel on loopback, with TLS by an authority of the tests and passwords."""

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from redis import Redis, RedisError

from development.servers.processes import die_with_parent, free_port
from development.servers.unprivileged import chown_tree, popen_options
from tests.processes.service_processes import HOST
from tests.processes.waiting import wait_for

# With characters that a URL needs encoded.
PASSWORD, ENCODED_PASSWORD = "a b@/", "a%20b%40%2F"
MASTER = "Launchboard-Master"
_PEM = serialization.Encoding.PEM


def write_certificates(place: Path) -> None:
    """Write `ca.pem`, and `server.pem` and `server.key` of loopback, which that authority has signed."""
    authority, server = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Authority of the tests")])
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Redis")])
    start, end = datetime.now(UTC) - timedelta(days=1), datetime.now(UTC) + timedelta(days=1)
    root = x509.CertificateBuilder(issuer, issuer, authority.public_key(), 1, start, end)
    root = root.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    (place / "ca.pem").write_bytes(root.sign(authority, hashes.SHA256()).public_bytes(_PEM))
    leaf = x509.CertificateBuilder(issuer, subject, server.public_key(), 2, start, end)
    leaf = leaf.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]), critical=False)
    (place / "server.pem").write_bytes(leaf.sign(authority, hashes.SHA256()).public_bytes(_PEM))
    plain = serialization.NoEncryption()
    (place / "server.key").write_bytes(server.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, plain))


@dataclass
class RedisProcess:
    """A running server or sentinel."""

    place: Path
    program: str
    settings: tuple[str, ...]
    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        path = shutil.which(self.program)
        assert path, f"{self.program} is not installed"
        directory = Path(tempfile.mkdtemp(dir=self.place))
        encryption = (
            *(f"tls-port {self.port}", "port 0", "tls-replication yes", "tls-auth-clients no"),
            f"tls-ca-cert-file {self.place}/ca.pem",
            *(f"tls-cert-file {self.place}/server.pem", f"tls-key-file {self.place}/server.key"),
        )
        own = (f"bind {HOST}", f"dir {directory}", f'requirepass "{PASSWORD}"', *encryption, *self.settings)
        (directory / "redis.conf").write_text("\n".join(own), encoding="utf-8")
        chown_tree(self.place)
        chown_tree(directory)
        # Sentinels rewrite their file.
        self.process = subprocess.Popen(
            [path, str(directory / "redis.conf")],
            stdout=subprocess.DEVNULL,
            preexec_fn=die_with_parent(signal.SIGKILL),
            **popen_options(),
        )
        wait_for(self._responds)

    def client(self) -> Redis:
        """Return a client of this process."""
        return Redis(HOST, self.port, password=PASSWORD, ssl=True, ssl_ca_certs=str(self.place / "ca.pem"))

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self.process.kill()
        self.process.wait()

    def _responds(self) -> bool:
        assert self.process.poll() is None, f"{self.program} ended"
        try:
            return bool(self.client().ping())
        except RedisError:
            return False


@contextmanager
def redis_with_tls() -> Iterator[RedisProcess]:
    """Run a server during the block."""
    with _place() as place:
        server = _server(place)
        try:
            yield server
        finally:
            server.kill()


@dataclass(frozen=True)
class Guarded:
    """A master with a replica, and three sentinels."""

    master: RedisProcess
    replica: RedisProcess
    sentinels: list[RedisProcess]

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings that lead to the master."""
        authority = f"?ssl_ca_certs={self.master.place}/ca.pem"
        urls = [f"rediss://:{ENCODED_PASSWORD}@{HOST}:{sentinel.port}{authority}" for sentinel in self.sentinels]
        return {
            "REDIS_URL": f"rediss://:{ENCODED_PASSWORD}@{MASTER}/0{authority}",
            "REDIS_SENTINELS": ",".join(urls),
        }

    def fail_over(self) -> None:
        """Kill the master, and wait until the sentinels have promoted the replica."""
        self.master.kill()
        wait_for(lambda: self.replica.client().role()[0] == b"master")


@contextmanager
def redis_with_sentinels() -> Iterator[Guarded]:
    """Run the servers and their sentinels during the block."""
    with _place() as place:
        processes = [_server(place)]
        try:
            processes.append(_server(place, f"replicaof {HOST} {processes[0].port}"))
            settings = (
                f"sentinel monitor {MASTER} {HOST} {processes[0].port} 2",
                f'sentinel auth-pass {MASTER} "{PASSWORD}"',
                f'sentinel sentinel-pass "{PASSWORD}"',
                f"sentinel down-after-milliseconds {MASTER} 1000",
                f"sentinel failover-timeout {MASTER} 5000",
            )
            for _ in range(3):
                processes.append(RedisProcess(place, "redis-sentinel", settings))
            master, replica, *sentinels = processes
            for sentinel in sentinels:
                wait_for(lambda sentinel=sentinel: _sees_all(sentinel))
            yield Guarded(master, replica, sentinels)
        finally:
            for process in processes:
                process.kill()


def _server(place: Path, *settings: str) -> RedisProcess:
    return RedisProcess(place, "redis-server", (f'masterauth "{PASSWORD}"', 'save ""', *settings))


def _sees_all(sentinel: RedisProcess) -> bool:
    state = sentinel.client().sentinel_master(MASTER)
    return bool(state["num-other-sentinels"] == 2 and state["num-slaves"] == 1)


@contextmanager
def _place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        write_certificates(Path(directory))
        # The service reads the authority's certificate; the servers run under another id.
        Path(directory).chmod(0o755)
        yield Path(directory)
