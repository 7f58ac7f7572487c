"""config/environment/variables.py: parsing of settings from environment variables."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from config.environment import chain_variables, server_urls, variables

Give = Callable[[str], None]


@pytest.fixture
def give() -> Iterator[Give]:
    def set_value(text: str) -> None:
        os.environ["TRIED"] = text

    yield set_value
    os.environ.pop("TRIED", None)
    os.environ.pop("TRIED_FILE", None)


def read_int() -> int:
    return variables.env_int("TRIED", 7, minimum=1, maximum=10)


def read_float() -> float:
    return variables.env_float("TRIED", 0.5, minimum=0.1, maximum=2.0)


def read_bool() -> bool:
    return variables.env_bool("TRIED", True)


def read_choice() -> str:
    return variables.env_choice("TRIED", "INFO", choices=("INFO", "ERROR"))


def read_origin() -> str:
    return variables.env_origin("TRIED", "http://default")


def read_origins() -> tuple[str, ...]:
    return variables.env_origins("TRIED")


def read_hosts() -> tuple[str, ...]:
    return variables.env_hosts("TRIED", ("localhost",))


def read_ip_address() -> str:
    return variables.env_ip_address("TRIED", "127.0.0.1")


def read_program() -> Path | None:
    return variables.env_program("TRIED")


def read_long_secret() -> str:
    return variables.env_secret("TRIED", "default", shortest=50)


def read_url() -> str:
    return variables.env_url("TRIED", "https://default.example/v2")


def read_networks() -> tuple[Any, ...]:
    return variables.env_networks("TRIED")


def read_gateway() -> str:
    return variables.env_gateway("TRIED", "https://default.example/ipfs")


def read_api_key() -> str:
    return variables.env_api_key("TRIED")


def read_slug() -> str:
    return variables.env_slug("TRIED")


def read_list() -> tuple[str, ...]:
    return variables.env_list("TRIED", ("one",))


ORIGIN = "http:// or https://, a host and perhaps a port, and nothing after them"
ORIGINS = f"{ORIGIN}; several with commas between them"
NO_ORIGINS = (
    "s3cret",
    "ftp://s3cret",
    "https://",
    "https:///s3cret",
    "https://s3cret:65536",
    "https://s3cret:0",
    "https://s3cret:",
    "http://[s3cret",
    "http://[]",
    "http://x y",
    "http://x\ty",
    "http://x/path?q=1",
    "http://x/path",
    "http://x?q=1",
    "http://x#part",
    "http://user:s3cret@x",
    "http://256.1.1.1",
    "http://\u0668.example",
)
NETWORKS = "IP addresses or networks, such as 10.0.0.5 or fd00:1::/64, between commas"
HOSTS = "host names or addresses only, such as example.org, .example.org, 192.0.2.1, [::1] or *"
NO_HOSTS = (
    "http://foo",
    "a b",
    "ok.example,foo:8000",
    "::1",
    "[::z]",
    "*.example.org",
    "..example",
    "-x",
    "1.2.3",
    "foo/",
    "x" * 64,
    "x." * 130 + "x",
)
IP_ADDRESS = "an IP address, such as 127.0.0.1, 0.0.0.0 or ::1"
NO_URLS = ("s3cret", "ftp://s3cret", "https://", "https://s3cret:65536", "http://[s3cret", "http://x/s3cret key")
# Keys that a header could not contain.
NO_API_KEYS = ("s3cret key", "s3cret\nkey", "s3cr\u00e9t", "s3cret\x7f")
NO_IP_ADDRESSES = ("localhost", "a b", "x" * 300, "[::1]", "fe80::1%eth0", "127.0.0.1:8000", "127.1", "0x7f000001")


@pytest.mark.parametrize(
    ("read", "nonsense", "expected"),
    [
        (read_int, "s3cret", "a whole number from 1 to 10"),
        (read_int, "0", "a whole number from 1 to 10"),
        (read_int, "11", "a whole number from 1 to 10"),
        (read_int, "1.5", "a whole number from 1 to 10"),
        (read_float, "s3cret", "a number from 0.1 to 2.0"),
        (read_float, "2.01", "a number from 0.1 to 2.0"),
        (read_float, "nan", "a number from 0.1 to 2.0"),
        (read_float, "inf", "a number from 0.1 to 2.0"),
        (read_bool, "s3cret", "true or false"),
        (read_bool, "2", "true or false"),
        (read_choice, "s3cret", "one of INFO, ERROR"),
        (read_int, "\u0668", "a whole number from 1 to 10"),
        (read_int, "1_0", "a whole number from 1 to 10"),
        (read_int, "0" * 5000 + "1", "a whole number from 1 to 10"),
        (read_float, "\u0661", "a number from 0.1 to 2.0"),
        (read_float, "1_0e-1", "a number from 0.1 to 2.0"),
        (read_float, ".", "a number from 0.1 to 2.0"),
        *((read_origin, text, ORIGIN) for text in NO_ORIGINS),
        *((read_origins, f"https://good.example,{text}", ORIGINS) for text in ("*", "null", *NO_ORIGINS)),
        *((read_hosts, text, HOSTS) for text in NO_HOSTS),
        *((read_ip_address, text, IP_ADDRESS) for text in NO_IP_ADDRESSES),
        (read_program, "/nowhere/s3cret", "the path of an executable file"),
        (read_program, "/", "the path of an executable file"),
        (read_program, __file__, "the path of an executable file"),
        (read_program, "x" * 5000, "the path of an executable file"),
        (read_long_secret, "s3cret" * 8, "at least 50 random characters"),
        *((read_url, text, "an address that starts with http:// or https://") for text in NO_URLS),
        (read_url, "https://s3cret/v2?key=x", "an address without ? and #"),
        (read_url, "https://s3cret/v2#x", "an address without ? and #"),
        *((read_networks, text, NETWORKS) for text in ("10.0.0.1/8", "10.0.0", "host.example", "::1,x", "1.2.3.4:80")),
        (read_gateway, "ipfs.io", "an address that starts with http:// or https://"),
        (read_gateway, "https://s3cret/?a", "an address without ? and #"),
        *((read_slug, text, "small letters, digits, - and _") for text in ("Base", "a/b", "a b", "\u00e9", "a" * 101)),
        *((read_api_key, text, "letters, digits and signs of ASCII, without blanks") for text in NO_API_KEYS),
    ],
)
def test_it_refuses_nonsense_by_name_without_its_value(
    give: Give, read: Callable[[], Any], nonsense: str, expected: str
) -> None:
    give(nonsense)
    with pytest.raises(ImproperlyConfigured) as refused:
        read()
    assert str(refused.value) == f"TRIED has a value that can't be used: expected {expected}"


def test_it_refuses_a_secret_that_is_given_twice(give: Give, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from the file")
    give("from the variable")
    os.environ["TRIED_FILE"] = str(tmp_path / "secret")
    with pytest.raises(ImproperlyConfigured, match="^TRIED .* expected either TRIED or TRIED_FILE, not both$"):
        variables.env_secret("TRIED")


def test_it_refuses_a_secret_file_that_it_cannot_read(give: Give, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing", tmp_path, binary):
        os.environ["TRIED_FILE"] = str(path)
        with pytest.raises(ImproperlyConfigured, match="^TRIED_FILE .* expected the path of a readable text file$"):
            variables.env_secret("TRIED")


@pytest.fixture
def env_file(tmp_path: Path) -> Iterator[Path]:
    before = dict(os.environ)
    yield tmp_path / ".env"
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'FIRST=1\nTRIED="s3cret\nLAST=1\n', 2),
        (b"FIRST=1\n\nTRIED='s3cret", 3),
        (b'FIRST="s3cret\nTRIED=1\nLAST="x"\n', 1),
        (b"TRIED s3cret\n", 1),
        (b"TRIED=s3\0cret\n", 1),
    ],
)
def test_it_refuses_an_env_file_by_the_line_it_cannot_read(env_file: Path, content: bytes, line: int) -> None:
    env_file.write_bytes(content)
    with pytest.raises(ImproperlyConfigured) as refused:
        variables.load_env_file(env_file)
    assert str(refused.value) == (f".env can't be read at line {line}: expected NAME=value, with every quote closed")
    assert not {"FIRST", "TRIED", "LAST"} & set(os.environ)


def test_it_refuses_an_env_file_that_is_no_file(env_file: Path) -> None:
    env_file.mkdir()
    with pytest.raises(ImproperlyConfigured, match=r"^\.env can't be read: Is a directory$"):
        variables.load_env_file(env_file)


@pytest.mark.parametrize("command", [["manage.py", "check"], ["-m", "development.run"]])
def test_every_command_refuses_an_env_file_of_another_encoding_in_one_line(tmp_path: Path, command: list[str]) -> None:
    # The file is read from the directory of the sources: a copy of those that are read until then.
    for package in ("config", "development"):
        shutil.copytree(variables.BASE_DIR / package, tmp_path / package, ignore=shutil.ignore_patterns("node_modules"))
    shutil.copy(variables.BASE_DIR / "manage.py", tmp_path)
    (tmp_path / ".env").write_bytes("PORT=8000\nLOG_LEVEL=caf\u00e9\n".encode("latin-1"))
    done = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "launchboard: .env can't be read: expected UTF-8 text\n")


def test_an_env_file_fills_in_what_is_not_set(env_file: Path) -> None:
    variables.load_env_file(env_file)
    os.environ["FIRST"] = "kept"
    env_file.write_bytes(b"\xef\xbb\xbfTRIED='a b'\nexport FIRST=1\n# A comment.\n")
    variables.load_env_file(env_file)
    assert (os.environ["TRIED"], os.environ["FIRST"]) == ("a b", "kept")


@pytest.mark.parametrize(
    "address",
    [
        "s3cret",
        "postgres://",
        "postgres://s3cret",
        "postgres://s3cret/",
        "postgres://user:s3cret@h:99999/name",
        "postgres://[s3cret/name",
        "sqlite:///s3cret",
    ],
)
def test_it_refuses_a_database_address_without_showing_it(address: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        server_urls.parse_database_url(address)
    assert str(refused.value) == (
        "DATABASE_URL has a value that can't be used: expected postgres://user:password@host:port/name"
    )


def test_connections_notice_a_database_whose_host_is_gone_unless_the_address_overrides_it() -> None:
    options = server_urls.parse_database_url("postgres://host/name?keepalives_idle=99")["OPTIONS"]
    assert str(options.pop("keepalives_idle")) == "99"
    assert options.keys() >= {"keepalives_interval", "keepalives_count", "tcp_user_timeout"}


@pytest.mark.parametrize(
    "address",
    [
        "/abc",
        "s3cret",
        "http://s3cret",
        "redis://",
        "redis:///1",
        "redis://[",
        "redis://s3cret:99999",
        "redis://s3cret:0",
        "redis://s3cret/abc",
        "redis://s3cret/1/2",
        "redis://s3cret?db=abc",
        "redis://s3cret?nonsense=1",
        "unix://",
        "unix:///",
        "unix://s3cret/path",
    ],
)
def test_it_refuses_a_redis_address_without_showing_it(address: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        server_urls.parse_redis_url(address)
    assert str(refused.value) == (
        "REDIS_URL has a value that can't be used: expected redis://host:port/number, rediss:// alike, or unix:///path"
    )


@pytest.mark.parametrize(
    "address", ["redis://:pass@host:6379/1", "redis://[::1]", "rediss://host/", "unix:///run/redis.sock?db=3"]
)
def test_it_takes_a_redis_address_as_it_is(address: str) -> None:
    assert server_urls.parse_redis_url(address) == address


@pytest.mark.django_db
def test_it_takes_servers_that_answer(settings: Any) -> None:
    server_urls.check_database(connection.get_connection_params())
    server_urls.check_redis(settings.REDIS_URL)


@pytest.mark.parametrize("place", ["/proc/x", "/etc/passwd", "/dev/null", "~nobodyatall/x", "x" * 300])
def test_it_refuses_a_local_directory_that_cannot_be_made(place: str) -> None:
    environment = os.environ | dict.fromkeys(("DATABASE_URL", "REDIS_URL", "SECRET_KEY"), "")
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=variables.BASE_DIR,
        env=environment | {"LAUNCHBOARD_LOCAL": place},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    expected = "launchboard: LAUNCHBOARD_LOCAL has a value that can't be used: expected a directory that can be made"
    assert done.stderr.startswith(expected)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("suffix", ["", "base", "08453", "0", "-1", "1" * 19])
def test_it_refuses_node_addresses_whose_name_ends_in_no_chain_id(suffix: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^RPC_URLS_{suffix} .* such as RPC_URLS_8453$"):
        chain_variables.env_rpc_urls({f"RPC_URLS_{suffix}": "https://node.example"})


def test_it_refuses_node_addresses_of_another_scheme_without_showing_them() -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        chain_variables.env_rpc_urls({"RPC_URLS_1": "https://node.example,wss://node.example/s3cret"})
    assert "RPC_URLS_1" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_it_refuses_node_addresses_that_are_only_commas() -> None:
    with pytest.raises(ImproperlyConfigured, match="^RPC_URLS_1 .* expected an address, or several with commas"):
        chain_variables.env_rpc_urls({"RPC_URLS_1": " , "})


@pytest.mark.parametrize(
    ("read", "default"),
    [
        (read_int, 7),
        (read_float, 0.5),
        (read_bool, True),
        (read_choice, "INFO"),
        (read_origin, "http://default"),
        (read_origins, ()),
        (read_hosts, ("localhost",)),
        (read_ip_address, "127.0.0.1"),
        (read_program, None),
        (read_long_secret, "default"),
        (read_url, "https://default.example/v2"),
        (read_networks, ()),
        (read_gateway, "https://default.example/ipfs"),
        (read_api_key, ""),
        (read_slug, ""),
        (read_list, ("one",)),
    ],
)
def test_an_unset_empty_or_blank_variable_has_its_default(give: Give, read: Callable[[], Any], default: Any) -> None:
    assert read() == default
    for text in ("", "  "):
        give(text)
        assert read() == default


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (read_int, " 10 ", 10),
        (read_int, "1", 1),
        (read_float, "2", 2.0),
        (read_bool, "Off", False),
        (read_bool, "yes", True),
        (read_choice, "error", "ERROR"),
        (read_float, "5e-1", 0.5),
        (read_origin, "HTTPS://Host.example:8443/", "https://host.example:8443"),
        (read_origin, "http://[::1]:8000", "http://[::1]:8000"),
        (read_origins, "HTTPS://App.example/, http://[::1]:80", ("https://app.example", "http://[::1]")),
        (read_origins, "https://a.example:443,http://a.example:443", ("https://a.example", "http://a.example:443")),
        (
            read_hosts,
            "*, .a-b.example, localhost, 10.0.0.1, [::1]",
            ("*", ".a-b.example", "localhost", "10.0.0.1", "[::1]"),
        ),
        (read_ip_address, "::1", "::1"),
        (read_program, sys.executable, Path(sys.executable)),
        (read_long_secret, "x" * 50, "x" * 50),
        (read_url, " http://127.0.0.1:8000/api/v2/ ", "http://127.0.0.1:8000/api/v2"),
        (read_url, "https://host.example", "https://host.example"),
        (read_networks, "10.0.0.5, fd00::/8", (ip_network("10.0.0.5/32"), ip_network("fd00::/8"))),
        (read_gateway, "http://10.0.0.5:8080/ipfs/", "http://10.0.0.5:8080/ipfs"),
        (read_gateway, " Off ", ""),
        (read_api_key, "NEYNAR-0f_+/=", "NEYNAR-0f_+/="),
        (read_slug, "pump-fun_2", "pump-fun_2"),
        (read_list, " a, ,b,", ("a", "b")),
        (read_list, r"a\,b,c", ("a,b", "c")),
    ],
)
def test_it_reads_what_can_be_used(give: Give, read: Callable[[], Any], text: str, value: Any) -> None:
    give(text)
    assert read() == value


def test_a_secret_is_the_variable_or_the_content_of_the_file(give: Give, tmp_path: Path) -> None:
    assert variables.env_secret("TRIED", "default") == "default"
    give("from the variable")
    assert variables.env_secret("TRIED") == "from the variable"
    give("")
    (tmp_path / "secret").write_text("from the file\n")
    os.environ["TRIED_FILE"] = str(tmp_path / "secret")
    assert variables.env_secret("TRIED") == "from the file"


def test_node_addresses_are_found_by_chain_in_their_order() -> None:
    environment = {
        "RPC_URLS_8453": "https://one.example/key, http://two.example",
        "RPC_URLS_31337": "http://127.0.0.1:8545",
        "RPC_URLS_1": " ",
        "OTHER": "https://three.example",
    }
    assert chain_variables.env_rpc_urls(environment) == {
        8453: ("https://one.example/key", "http://two.example"),
        31337: ("http://127.0.0.1:8545",),
    }


@pytest.mark.parametrize("url", ["https://node.example", "ws://", "node.example"])
def test_it_refuses_a_websocket_url_that_is_none(url):
    with pytest.raises(ImproperlyConfigured, match=r"RPC_WS_URL_1 .*ws:// or wss://"):
        chain_variables.env_websocket_urls({"RPC_WS_URL_1": url})


@pytest.mark.parametrize("number", ["-1", "latest", "0x10", "1.5", "9" * 19])
def test_it_refuses_a_first_block_that_is_no_number_of_a_block(number):
    with pytest.raises(ImproperlyConfigured, match="FOLLOW_FROM_1 .*number of a block"):
        chain_variables.env_first_blocks({"FOLLOW_FROM_1": number})


def test_it_reads_the_websocket_urls_and_first_blocks_of_chains():
    environment = {"RPC_WS_URL_8453": "wss://node.example/key", "FOLLOW_FROM_8453": "0", "FOLLOW_FROM_1": ""}
    assert chain_variables.env_websocket_urls(environment) == {8453: "wss://node.example/key"}
    assert chain_variables.env_first_blocks(environment) == {8453: 0}
