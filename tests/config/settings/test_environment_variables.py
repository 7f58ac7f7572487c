"""config/environment/: every variable's refused and accepted values, `.env`, and what documents state about them."""

import json
import os
import pickle
import pprint
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import attrs
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from eth_account import Account

from config.environment import kinds, redis_urls, server_urls, variables
from config.environment.issuers import read_issuers
from config.environment.model import Environment
from config.environment.secret import Secret
from config.environment.unknown_names import FORMER, unknown_variables
from config.environment.variables import BASE_DIR, UnusableValueError, read_variables
from config.redis.connection import check_redis, redis_client
from development import setting_documents
from development.servers import bundled

KEY, OTHER_KEY = "5e" * 32, "0x" + "6F" * 32
CURVE_ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
ADDRESS = Account.from_key(KEY).address
ORIGIN = "http:// or https://, a host and perhaps a port, and nothing after them"
NO_ORIGINS = (
    "s3cret", "ftp://s3cret", "https://", "https:///s3cret", "https://s3cret:65536", "https://s3cret:0", "https://s3cret:",
    "http://[s3cret", "http://[]", "http://x y", "http://x\ty", "http://x/path?q=1", "http://x/path", "http://x?q=1",
    "http://x#part", "http://user:s3cret@x", "http://256.1.1.1", "http://\u0668.example",
)  # fmt: skip
HOSTS = "host names or addresses only, such as example.org, .example.org, 192.0.2.1, [::1] or *"
NO_HOSTS = ("http://foo", "a b", "ok.example,foo:8000", "::1", "[::z]", "*.example.org", "..example", "-x", "1.2.3")
IP_ADDRESS = "an IP address, such as 127.0.0.1, 0.0.0.0 or ::1"
NO_IP_ADDRESSES = ("localhost", "a b", "x" * 300, "[::1]", "fe80::1%eth0", "127.0.0.1:8000", "127.1", "0x7f000001")
NETWORKS = "IP addresses or networks, such as 10.0.0.5 or fd00:1::/64, between commas"
URL, NO_QUERY = "an address that starts with http:// or https://", "an address without ? and #"
NO_URLS = ("s3cret", "ftp://s3cret", "https://", "https://s3cret:65536", "http://[s3cret", "http://x/s3cret key")
KEYS = "a private key of 64 hex digits, or several with commas between them"
NO_KEYS = (KEY[:-1], KEY + "0", f"{KEY},s3cret", "0x0x" + KEY, "g" * 64, "0" * 64, CURVE_ORDER, ",", f"-{KEY}")
ADDRESSES = "an address of 40 hex digits after 0x, or several with commas between them"
API_KEY = "letters, digits and signs of ASCII, without blanks"
REFUSED = {
    ("WEB_WORKERS", "a whole number from 1 to 64"): ("s3cret", "0", "65", "1.5", "\u0668", "1_0", "0" * 5000 + "1"),
    ("RPC_TIMEOUT_SECONDS", "a number from 0.1 to 120.0"): ("x", "120.01", "nan", "inf", "\u0661", "1_0e-1", "."),
    ("DEPLOY_LOW_BALANCE_ETH", "a number from 0 to 1000000"): ("-1", "1e7", "nan", "s3cret"),
    ("DEPLOY_MAX_FEE_GWEI_8453", "a number from 0.001 to 1000000"): ("0", "0.0009", "1,5", "\u0661", "1e" + "9" * 20),
    ("DEBUG", "true or false"): ("s3cret", "2"),
    ("LOG_LEVEL", "one of DEBUG, INFO, WARNING, ERROR"): ("s3cret",),
    ("SITE_URL", ORIGIN): NO_ORIGINS,
    ("CORS_ORIGINS", f"{ORIGIN}; several with commas between them"): (
        *(f"https://good.example,{text}" for text in ("*", "null", *NO_ORIGINS)),
    ),
    ("ALLOWED_HOSTS", HOSTS): (*NO_HOSTS, ",", "foo/", "x" * 64, "x." * 130 + "x"),
    ("WEB_HOST", IP_ADDRESS): NO_IP_ADDRESSES,
    ("OUTBOUND_ALLOWED_NETWORKS", NETWORKS): (" ,, ", "10.0.0.1/8", "10.0.0", "host.example", "::1,x", "1.2.3.4:80"),
    ("SECRET_KEY", "at least 50 random characters"): ("s3cret" * 8,),
    # A header could not contain them.
    ("SOCIAL_API_KEY", API_KEY): ("s3cret key", "s3cret\nkey", "s3cr\u00e9t", "s3cret\x7f"),
    ("MARKET_CATEGORY", "small letters, digits, - and _"): ("Base", "a/b", "a b", "\u00e9", "a" * 101),
    ("MARKET_BASE_URL", URL): NO_URLS,
    ("SOCIAL_BASE_URL", NO_QUERY): ("https://s3cret/v2?key=x", "https://s3cret/v2#x"),
    ("IPFS_GATEWAY_URL", URL): ("ipfs.io",),
    ("ARWEAVE_GATEWAY_URL", NO_QUERY): ("https://s3cret/?a",),
    ("RPC_URLS_1", URL): ("https://node.example,wss://node.example/s3cret",),
    ("RPC_URLS_8453", "an address, or several with commas between them"): (" , ",),
    ("RPC_WS_URL_1", "an address that starts with ws:// or wss://"): ("https://node.example", "ws://", "node.example"),
    ("FOLLOW_FROM_1", "the number of a block"): ("-1", "latest", "0x10", "1.5", "9" * 19),
    ("DEPLOYER_KEYS_8453", KEYS): NO_KEYS,
    ("DEPLOYER_REMOTE_8453", ADDRESSES): (ADDRESS[2:], ADDRESS[:-1], f"{ADDRESS} {ADDRESS}", ",", "s3cret"),
}


@pytest.mark.parametrize(
    ("name", "expected", "text"),
    [(name, expected, text) for (name, expected), texts in REFUSED.items() for text in texts],
)
def test_it_refuses_nonsense_by_name_without_its_value(name: str, expected: str, text: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        read_variables(Environment, {name: text})
    assert str(refused.value) == f"{name} has a value that can't be used: expected {expected}"


PREFIXES = [field.metadata["chain_prefix"] for field in attrs.fields(Environment) if "chain_prefix" in field.metadata]


@pytest.mark.parametrize(
    ("prefix", "suffix"),
    [*((prefix, "base") for prefix in PREFIXES), *(("RPC_URLS_", text) for text in ("", "08453", "0", "-1", "1" * 19))],
)
def test_it_refuses_a_name_that_ends_in_no_chain_id(prefix: str, suffix: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^{prefix}{suffix} .* such as {prefix}8453$"):
        read_variables(Environment, {prefix + suffix: "s3cret"})


def test_an_unset_or_blank_variable_has_its_default() -> None:
    names = [field.metadata.get("chain_prefix", field.name) for field in attrs.fields(Environment)]
    blank = dict.fromkeys(names, "") | dict.fromkeys(names[::2], "  ")
    assert as_texts(read_variables(Environment, blank)) == as_texts(read_variables(Environment, {}))
    values = read_variables(Environment, {})
    assert (values.PORT, values.RPC_URLS, values.UPLOAD_DIR, values.SITE_URL) == (8000, {}, None, "")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("WEB_WORKERS", " 64 ", 64),
        ("WEB_WORKERS", "+1", 1),
        ("RPC_TIMEOUT_SECONDS", "2", 2.0),
        ("RPC_TIMEOUT_SECONDS", "5e-1", 0.5),
        ("DEPLOY_MAX_FEE_GWEI", "0.1", Decimal("0.1")),
        ("MARKET_PROVIDER_CHAINS", "8453, 101", (8453, 101)),
        ("DEBUG", "yes", True),
        ("LOG_LEVEL", "error", "ERROR"),
        ("SITE_URL", "HTTPS://Host.example:8443/", "https://host.example:8443"),
        ("SITE_URL", "http://[::1]:8000", "http://[::1]:8000"),
        ("CORS_ORIGINS", "HTTPS://App.example/, http://[::1]:80", ("https://app.example", "http://[::1]")),
        ("CORS_ORIGINS", "https://a.example:443,http://b.example:443", ("https://a.example", "http://b.example:443")),
        ("ALLOWED_HOSTS", "*, .a-b.example, 10.0.0.1, [::1]", ("*", ".a-b.example", "10.0.0.1", "[::1]")),
        ("WEB_HOST", "::1", "::1"),
        ("SECRET_KEY", "x" * 50, "x" * 50),
        ("SOCIAL_BASE_URL", " http://127.0.0.1:8000/api/v2/ ", "http://127.0.0.1:8000/api/v2"),
        ("OUTBOUND_ALLOWED_NETWORKS", "10.0.0.5, fd00::/8", (ip_network("10.0.0.5/32"), ip_network("fd00::/8"))),
        ("IPFS_GATEWAY_URL", "http://10.0.0.5:8080/ipfs/", ("http://10.0.0.5:8080/ipfs",)),
        (
            "IPFS_GATEWAY_URL",
            "https://a.example/ipfs, https://b.example",
            ("https://a.example/ipfs", "https://b.example"),
        ),
        ("IPFS_GATEWAY_URL", " Off ", ()),
        ("METRICS_TOKEN", "NEYNAR-0f_+/=", "NEYNAR-0f_+/="),
        ("MARKET_CATEGORY", "pump-fun_2", "pump-fun_2"),
        ("CHAINS_FILE", " a, ,b,", ("a", "b")),
        ("CHAINS_FILE", r"a\,b,c", ("a,b", "c")),
    ],
)
def test_it_reads_what_can_be_used(name: str, text: str, value: Any) -> None:
    assert getattr(read_variables(Environment, {name: text}), name) == value


@pytest.mark.parametrize("text", ["+-5", "--5", "++5", "+ 5", "+"])
def test_a_whole_number_has_one_sign_at_most(text: str) -> None:
    parse = kinds.whole_number(-10, 10)
    assert (parse("-5"), parse("+5")) == (-5, 5)
    with pytest.raises(UnusableValueError, match="^a whole number from -10 to 10$"):
        parse(text)


def test_it_reads_variables_of_chains(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(f"{KEY}\n{OTHER_KEY}\n")
    given = read_variables(
        Environment,
        {
            "RPC_URLS_8453": "https://one.example/key, http://two.example",
            "RPC_URLS_1": " ",
            "RPC_WS_URL_8453": "wss://node.example/key",
            "FOLLOW_FROM_8453": "0",
            "DEPLOYER_KEYS_1": f" {OTHER_KEY}, {KEY} ",
            "DEPLOYER_KEYS_8453_FILE": f" {tmp_path / 'keys'} ",
            "DEPLOYER_KEYS_5": " ",
            "DEPLOYER_KEYSTORES_1": "/a b/c\\,d, e",
            "DEPLOYER_REMOTE_1": f"{ADDRESS}, {ADDRESS.lower()}",
            "DEPLOY_MAX_FEE_GWEI_8453": "0.1",
        },
    )
    assert given.RPC_URLS == {8453: ("https://one.example/key", "http://two.example")}
    assert (given.RPC_WS_URLS, given.FOLLOW_FROM) == ({8453: "wss://node.example/key"}, {8453: 0})
    revealed = {chain_id: [key.reveal() for key in keys] for chain_id, keys in given.DEPLOYER_KEYS.items()}
    assert revealed == {1: [OTHER_KEY[2:], KEY], 8453: [KEY, OTHER_KEY[2:]]}
    keystores, addresses, fees = given.DEPLOYER_KEYSTORES, given.DEPLOYER_REMOTE, given.DEPLOY_MAX_FEES_GWEI
    assert keystores == {1: (Path("/a b/c,d"), Path("e"))}
    assert addresses == {1: (ADDRESS, ADDRESS.lower())}
    assert fees == {8453: Decimal("0.1")}


@pytest.mark.parametrize("name", ["SECRET_KEY", "METRICS_TOKEN", "DEPLOYER_KEYS_1"])
def test_a_secret_is_the_variable_or_the_content_of_a_file(tmp_path: Path, name: str) -> None:
    secret, file = tmp_path / "secret", f"{name}_FILE"
    secret.write_text(f"{KEY}\n")
    assert as_texts(read_variables(Environment, {file: str(secret)})) == as_texts(
        read_variables(Environment, {name: KEY})
    )
    with pytest.raises(ImproperlyConfigured, match=f"^{name} .* expected either {name} or {file}, not both$"):
        read_variables(Environment, {name: KEY, file: str(secret)})
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "binary"):
        with pytest.raises(ImproperlyConfigured, match=f"^{file} .* expected the path of a readable text file$"):
            read_variables(Environment, {file: str(path)})
    secret.write_text("s3cret key")
    with pytest.raises(ImproperlyConfigured, match=f"^{name} has a value that can't be used"):
        read_variables(Environment, {file: str(secret)})


def test_a_secret_is_shown_only_by_reveal() -> None:
    secret = Secret(KEY)
    given = read_variables(Environment, {"SECRET_KEY": KEY, "RPC_URLS_1": f"https://node.example/{KEY}"})
    for shown in (repr(secret), str(secret), f"{secret:}", pprint.pformat([secret]), repr(given)):
        assert KEY not in shown
    with pytest.raises(TypeError, match="can't be pickled"):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        json.dumps(secret)
    assert secret.reveal() == KEY and secret and not Secret("")


def test_the_example_has_every_variable_with_its_default() -> None:
    example = dict(re.findall(r"^#([A-Z0-9_]+)=(.*)$", (BASE_DIR / ".env.example").read_text(), re.MULTILINE))
    issuers = {name for name in example if name.startswith("OIDC_EXAMPLE_")}
    of_chains = {field.metadata.get("chain_prefix", field.name): field for field in attrs.fields(Environment)}
    named = {name if name in of_chains else name.removesuffix("8453") for name in example.keys() - issuers}
    assert named == set(of_chains)
    assert [issuer.issuer for issuer in read_issuers(example)][1:] == [example["OIDC_EXAMPLE_ISSUER"]]
    given = read_variables(Environment, example)
    for field in attrs.fields(Environment):
        if isinstance(field.default, str) and field.default:
            assert getattr(given, field.name) == getattr(read_variables(Environment, {}), field.name), field.name


def test_both_documents_are_as_the_model_generates_them() -> None:
    guide, example = ((BASE_DIR / path).read_text() for path in (setting_documents.GUIDE, setting_documents.EXAMPLE))
    assert example == setting_documents.example_text(), "run manage.py write_settings"
    assert guide == setting_documents.guide_text(guide), "run manage.py write_settings"


def test_each_variable_has_a_text_and_a_place_in_the_guide() -> None:
    sections = setting_documents.read_sections()
    names = {each.name for section in sections for each in section.settings}
    fields = attrs.fields(Environment)
    prefixes = {field.name: field.metadata.get("chain_prefix") for field in fields}
    assert names == {f"{prefix}<chainId>" if prefix else name for name, prefix in prefixes.items()}
    guide = (BASE_DIR / setting_documents.GUIDE).read_text()
    assert [name for name in names if f"\n| `{name}` |" not in guide] == []


def test_a_changed_text_is_written_and_the_rest_of_the_guide_stays(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    guide = tmp_path / setting_documents.GUIDE
    guide.write_text("Before.\n\n<!-- settings: CacheVariables -->\nold\n<!-- /settings -->\n\nAfter.\n")
    setting_documents.write_documents(tmp_path)
    before, _, rest = guide.read_text().partition("\n\n")
    assert (before, rest.rpartition("\n\n")[2]) == ("Before.", "After.\n")
    assert "old" not in rest and "| `EDGE_CACHE_SECONDS` | 2 | Longest TTL in seconds" in rest
    assert (tmp_path / setting_documents.EXAMPLE).read_text() == setting_documents.example_text()


def test_no_line_of_the_example_has_a_comment_behind_its_value() -> None:
    # systemd reads the file, too, and includes such a comment in the value.
    lines = (BASE_DIR / ".env.example").read_text().splitlines()
    assert [line for line in lines if re.match(r"#[A-Z0-9_]+=.*\s#", line)] == []


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
    # The file is in the sources' directory: copy the sources that are read until then.
    for package in ("config", "development", "tokens"):
        shutil.copytree(BASE_DIR / package, tmp_path / package, ignore=shutil.ignore_patterns("node_modules"))
    shutil.copy(BASE_DIR / "manage.py", tmp_path)
    (tmp_path / ".env").write_bytes("PORT=8000\nLOG_LEVEL=caf\u00e9\n".encode("latin-1"))
    done = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "launchboard: .env can't be read: expected UTF-8 text\n")


def test_an_env_file_fills_in_what_is_not_set(env_file: Path) -> None:
    variables.load_env_file(env_file)
    os.environ["FIRST"] = "kept"
    env_file.write_bytes(b"\xef\xbb\xbfTRIED='a b'\nexport FIRST=1\n# A comment.\n")
    assert variables.load_env_file(env_file) == ("TRIED", "FIRST")
    assert (os.environ["TRIED"], os.environ["FIRST"]) == ("a b", "kept")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("RPC_URL_8453", "RPC_URLS_<chainId>"),
        ("RPC_URLS8453", "RPC_URLS_<chainId>"),
        ("RPC_WS_URLS_1", "RPC_WS_URL_<chainId>"),
        ("DEPLOYER_KEY_1_FILE", "DEPLOYER_KEYS_<chainId>"),
        ("CHAIN_FILE", "CHAINS_FILE"),
        ("METRIC_TOKEN_FILE", "METRICS_TOKEN"),
        ("PORT_FILE", "PORT"),
    ],
)
def test_a_near_miss_of_a_setting_is_found_in_the_environment_and_in_the_file(name: str, meant: str) -> None:
    sentence = f"and no setting has this name; is {meant} meant?"
    assert list(unknown_variables((), {name: "s3cret"})) == [f"{name} is set, {sentence}"]
    assert list(unknown_variables([name], {name: "s3cret"})) == [f"{name} is set in .env, {sentence}"]


def test_any_other_unknown_name_is_found_in_the_file_only() -> None:
    assert list(unknown_variables((), {"HOME": "/", "EDITOR": "x", "PORTAL": "x"})) == []
    assert list(unknown_variables(["REDIS_HOST"], {})) == ["REDIS_HOST is set in .env, and no setting has this name"]


def test_former_variables_share_a_sentence_wherever_they_are_set() -> None:
    set_in_environment = {"WEBHOOK_DISABLE_DAYS": "9", "PRETOKEN_ROOM_BYTES": ""}
    assert list(unknown_variables(["HUB_PULL_SECONDS"], set_in_environment)) == [
        "HUB_PULL_SECONDS, WEBHOOK_DISABLE_DAYS: set without effect, since these values are fixed now; see CHANGELOG.md"
    ]
    cells = re.findall(r"^\| (`[A-Z].*?) \|", (BASE_DIR / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", "".join(cells))) == FORMER
    assert not FORMER & {field.name for field in attrs.fields(Environment)}


def test_settings_and_variables_of_libraries_are_not_reported() -> None:
    example = re.findall(r"^#([A-Z0-9_]+)=", (BASE_DIR / ".env.example").read_text(), re.MULTILINE)
    others = ["DEPLOYER_KEYS_1_FILE", "SECRET_KEY_FILE", "https_proxy", "NO_PROXY", "SSL_CERT_FILE", "PYTHONWARNINGS"]
    assert list(unknown_variables([*example, *others], {"OIDC_ISSUERS": "EXAMPLE"})) == []


@pytest.mark.parametrize(
    "address",
    [
        "s3cret",
        "postgres://",
        "postgres://s3cret",
        "postgres://s3cret/",
        "postgres://user:s3cret@h:99999/name",
        "postgres://[s3cret/name",
        "postgres://user:s3cr@et/w@host/name",
        "sqlite:///s3cret",
    ],
)
def test_it_refuses_a_database_address_without_showing_it(address: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        server_urls.parse_database_url(address)
    assert str(refused.value) == (
        "DATABASE_URL has a value that can't be used: expected postgres://user:password@host:port/name,"
        " its parts percent-encoded"
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
def test_it_refuses_a_redis_address_without_showing_it(settings: Any, address: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        settings.REDIS_URL = redis_urls.parse_redis_url(address)
        redis_client()
    assert str(refused.value) == (
        "REDIS_URL has a value that can't be used: expected redis://host:port/number, rediss:// alike, or unix:///path"
    )


@pytest.mark.parametrize(
    "address", ["redis://:pass@host:6379/1", "redis://[::1]", "rediss://host/", "unix:///run/redis.sock?db=3"]
)
def test_it_takes_a_redis_address_as_it_is(address: str) -> None:
    assert redis_urls.parse_redis_url(address) == address


@pytest.mark.django_db
def test_it_takes_servers_that_answer() -> None:
    server_urls.check_database(connection.get_connection_params())
    check_redis()


@pytest.mark.parametrize("place", ["/proc/x", "/etc/passwd", "/dev/null", "~nobodyatall/x", "x" * 300])
def test_it_refuses_a_local_directory_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("LAUNCHBOARD_LOCAL", place)
    with pytest.raises(ImproperlyConfigured, match="^LAUNCHBOARD_LOCAL .* expected a directory that can be made"):
        bundled.make_local_directory()


def as_texts(given: Environment) -> dict[str, str]:
    """Return all values as text, also secret ones."""
    found = attrs.asdict(given, recurse=False)
    found["DEPLOYER_KEYS"] = {
        chain_id: [key.reveal() for key in keys] for chain_id, keys in given.DEPLOYER_KEYS.items()
    }
    return {name: str(value) for name, value in found.items()}
