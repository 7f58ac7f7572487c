"""Reading settings: each test gives a variable of its own a value in the environment."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env

Give = Callable[[str], None]


@pytest.fixture
def give() -> Iterator[Give]:
    def set_value(text: str) -> None:
        os.environ["TRIED"] = text

    yield set_value
    os.environ.pop("TRIED", None)
    os.environ.pop("TRIED_FILE", None)


def read_int() -> int:
    return env.env_int("TRIED", 7, minimum=1, maximum=10)


def read_float() -> float:
    return env.env_float("TRIED", 0.5, minimum=0.1, maximum=2.0)


def read_bool() -> bool:
    return env.env_bool("TRIED", True)


def read_choice() -> str:
    return env.env_choice("TRIED", "INFO", choices=("INFO", "ERROR"))


def read_url() -> str:
    return env.env_url("TRIED", "http://default", schemes=("http", "https"))


def read_list() -> tuple[str, ...]:
    return env.env_list("TRIED", ("one",))


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
        (read_url, "s3cret", "an address that starts with http:// or https://"),
        (read_url, "ftp://s3cret", "an address that starts with http:// or https://"),
        (read_url, "https://", "an address that starts with http:// or https://"),
        (read_url, "https:///s3cret", "an address that starts with http:// or https://"),
        (read_url, "https://s3cret:65536", "an address that starts with http:// or https://"),
        (read_url, "http://[s3cret", "an address that starts with http:// or https://"),
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
        env.env_secret("TRIED")


def test_it_refuses_a_secret_file_that_it_cannot_read(give: Give, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing", tmp_path, binary):
        os.environ["TRIED_FILE"] = str(path)
        with pytest.raises(ImproperlyConfigured, match="^TRIED_FILE .* expected the path of a readable text file$"):
            env.env_secret("TRIED")


@pytest.mark.parametrize("suffix", ["", "base", "08453", "0", "-1", "1" * 19])
def test_it_refuses_node_addresses_whose_name_ends_in_no_chain_id(suffix: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^RPC_URLS_{suffix} .* such as RPC_URLS_8453$"):
        env.env_rpc_urls({f"RPC_URLS_{suffix}": "https://node.example"})


def test_it_refuses_node_addresses_of_another_scheme_without_showing_them() -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        env.env_rpc_urls({"RPC_URLS_1": "https://node.example,wss://node.example/s3cret"})
    assert "RPC_URLS_1" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_it_refuses_node_addresses_that_are_commas_alone() -> None:
    with pytest.raises(ImproperlyConfigured, match="^RPC_URLS_1 .* expected an address, or several with commas"):
        env.env_rpc_urls({"RPC_URLS_1": " , "})


@pytest.mark.parametrize(
    ("read", "default"),
    [
        (read_int, 7),
        (read_float, 0.5),
        (read_bool, True),
        (read_choice, "INFO"),
        (read_url, "http://default"),
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
        (read_url, "https://host/path", "https://host/path"),
        (read_list, " a, ,b,", ("a", "b")),
    ],
)
def test_it_reads_what_can_be_used(give: Give, read: Callable[[], Any], text: str, value: Any) -> None:
    give(text)
    assert read() == value


def test_a_secret_is_the_variable_or_the_content_of_the_file(give: Give, tmp_path: Path) -> None:
    assert env.env_secret("TRIED", "default") == "default"
    give("from the variable")
    assert env.env_secret("TRIED") == "from the variable"
    give("")
    (tmp_path / "secret").write_text("from the file\n")
    os.environ["TRIED_FILE"] = str(tmp_path / "secret")
    assert env.env_secret("TRIED") == "from the file"


def test_node_addresses_are_found_by_chain_in_their_order() -> None:
    environment = {
        "RPC_URLS_8453": "https://one.example/key, http://two.example",
        "RPC_URLS_31337": "http://127.0.0.1:8545",
        "RPC_URLS_1": " ",
        "OTHER": "https://three.example",
    }
    assert env.env_rpc_urls(environment) == {
        8453: ("https://one.example/key", "http://two.example"),
        31337: ("http://127.0.0.1:8545",),
    }
