"""Token pictures: requested by pages, fetched by a worker from hosts on loopback, stored on disk."""

import os
import threading
from collections.abc import Iterator
from ipaddress import ip_network
from itertools import repeat

import pytest
from django.db import close_old_connections
from django.template.loader import render_to_string

from config.redis.connection import PREFIX, redis_client
from config.site.colors import READABLE, contrast, parse_color
from tests.config.site.test_site_look import stylesheet_text
from tests.html_pages import HOSTILE
from tests.nodes.document_host import DocumentHost, Page, document_host, redirect
from tests.processes.fork_server import fork_server
from tests.processes.waiting import wait_for
from tests.rows.factories import SolanaTokenFactory, TokenFactory
from tests.rows.pictures import GREEN, decoded, encoded, plain_picture, png_bomb
from tokens.site.pictures import tasks
from tokens.site.pictures.picture_files import prune_pictures, read_picture, store_picture
from tokens.site.pictures.placeholders import TINTS, initials, placeholder_svg, tint_number
from tokens.site.pictures.wanted_pictures import MAX_WANTED, fetch_wanted_pictures, picture_key, request_picture

pytestmark = pytest.mark.django_db

CID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"


@pytest.fixture(autouse=True)
def no_wanted_pictures() -> Iterator[None]:
    for key in redis_client().scan_iter(f"{PREFIX}picture*"):
        redis_client().delete(key)
    yield


@pytest.fixture
def host(settings, tmp_path) -> Iterator[DocumentHost]:
    """Enable pictures, with an allowed host."""
    settings.SITE_PICTURES, settings.SITE_PICTURE_DIR = True, tmp_path
    settings.OUTBOUND_ALLOWED_NETWORKS = (ip_network("127.0.0.1"),)
    with document_host() as running:
        yield running


def picture_path(token, *, key=None):
    return f"/pictures/{token.chain_id}/{token.contract_address}/{key or picture_key(token.img_url)}.webp"


def is_placeholder(answer):
    return (answer.status_code, answer.headers["Content-Type"]) == (200, "image/svg+xml")


def forget_claims():
    for key in redis_client().scan_iter(f"{PREFIX}picture:*"):
        redis_client().delete(key)


def seconds_until_retry(url):
    return redis_client().ttl(f"{PREFIX}picture:{picture_key(url)}")


def test_a_picture_is_fetched_once_and_served_without_metadata(client, host, django_assert_num_queries):
    body = encoded(plain_picture(GREEN, (400, 300)), "JPEG", comment=b"secret place")
    token = TokenFactory(img_url=host.put("/a.jpg", Page(body=body)))
    with django_assert_num_queries(1):
        first = client.get(picture_path(token))
    assert is_placeholder(first) and first.headers["Cache-Control"] == "public, s-maxage=10, max-age=10"
    assert host.received == []
    assert (fetch_wanted_pictures(), fetch_wanted_pictures()) == (1, 0)
    for _ in range(2):
        answer = client.get(picture_path(token))
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/webp")
        assert decoded(answer.content).size == (160, 160) and b"secret" not in answer.content
        assert answer.headers["Cache-Control"] == "public, s-maxage=300, max-age=300"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert not answer.cookies
    assert fetch_wanted_pictures() == 0
    assert host.received == ["/a.jpg"]
    assert host.headers[0]["accept"].startswith("image/webp")
    assert not {"cookie", "referer", "authorization"} & set(host.headers[0])


def test_a_page_of_unknown_pictures_requests_each_once(client, host):
    image = Page(body=encoded(plain_picture()))
    tokens = [TokenFactory(img_url=host.put(f"/{number}.png", image)) for number in range(20)]
    for _ in range(3):
        assert all(is_placeholder(client.get(picture_path(token))) for token in tokens)
    assert fetch_wanted_pictures() == 20
    assert sorted(host.received) == sorted(f"/{number}.png" for number in range(20))


def test_the_list_is_bounded(host):
    # No host is connected for these, which leave five places.
    for number in range(MAX_WANTED - 5):
        request_picture(f"ftp://127.0.0.1/{number}.png")
    image = Page(body=encoded(plain_picture()))
    urls = [host.put(f"/{number}.png", image) for number in range(8)]
    for url in urls:
        request_picture(url)
    assert fetch_wanted_pictures() == MAX_WANTED
    for url in urls[5:]:
        request_picture(url)
    assert fetch_wanted_pictures() == 3
    assert sorted(host.received) == [f"/{number}.png" for number in range(8)]


@pytest.mark.parametrize(
    "page",
    [
        Page(status=404),
        Page(status=500),
        Page(body=b"<html>", headers={"content-type": "image/png"}),
        Page(body=b"<svg xmlns='http://www.w3.org/2000/svg'/>", headers={"content-type": "image/svg+xml"}),
        Page(body=png_bomb(60_000, 60_000)),
        Page(body=encoded(plain_picture(size=(900, 900)), "JPEG")[:2000]),
        Page(body=b"\x89PNG\r\n\x1a\n" + b"\0" * (2 * 1024 * 1024)),
        Page(body=repeat(b"\0" * 65_536)),
        redirect("http://127.0.0.2/latest/meta-data"),
        redirect("http://169.254.169.254/latest/meta-data"),
        redirect("file:///etc/passwd"),
    ],
)
def test_a_host_without_a_usable_picture_costs_one_request(client, host, page, tmp_path):
    token = TokenFactory(img_url=host.put("/a", page))
    assert is_placeholder(client.get(picture_path(token)))
    assert fetch_wanted_pictures() == 1
    for _ in range(3):
        assert is_placeholder(client.get(picture_path(token)))
        assert fetch_wanted_pictures() == 0
    assert host.received == ["/a"]
    assert list(tmp_path.rglob("*.*")) == []


def test_a_slow_host_is_left_at_the_timeout(client, host, settings):
    settings.DOCUMENT_TIMEOUT_SECONDS = 0.5
    token = TokenFactory(img_url=host.put("/slow", Page(body=iter(lambda: b"\x89", b""), pause=0.1)))
    head = TokenFactory(img_url=host.put("/head", Page(endless_head=True, pause=0.1)))
    for each in (token, head):
        client.get(picture_path(each))
    assert fetch_wanted_pictures() == 2
    for each in (token, head):
        assert is_placeholder(client.get(picture_path(each))) and 0 < seconds_until_retry(each.img_url) <= 60


def test_delays_grow_with_failures_and_end_with_a_success(host):
    image = Page(body=encoded(plain_picture()))
    url = host.put("/a", Page(status=503), Page(status=503), Page(status=404), image)
    delays = []
    for _ in range(4):
        request_picture(url)
        assert fetch_wanted_pictures() == 1
        delays.append(seconds_until_retry(url))
        forget_claims()
    assert 50 < delays[0] <= 60 and 350 < delays[1] <= 360 and 2_150 < delays[2] <= 2_160
    assert delays[3] == -2 and read_picture(picture_key(url))
    assert not list(redis_client().scan_iter(f"{PREFIX}picture-failures:*"))


def test_what_no_retry_mends_begins_with_a_long_delay(host):
    url = host.put("/a", Page(body=b"<html>"))
    request_picture(url)
    fetch_wanted_pictures()
    assert 2_150 < seconds_until_retry(url) <= 2_160


def test_a_picture_of_ipfs_comes_from_the_gateway(client, host, settings):
    settings.IPFS_GATEWAY_URL = (f"{host.url}/ipfs",)
    host.put(f"/ipfs/{CID}/a.png", Page(body=encoded(plain_picture())))
    token = SolanaTokenFactory(img_url=f"ipfs://{CID}/a.png")
    client.get(picture_path(token))
    assert fetch_wanted_pictures() == 1
    assert client.get(picture_path(token)).headers["Content-Type"] == "image/webp"


@pytest.mark.parametrize(
    "url",
    ["x", "data:image/png;base64,AAAA", "ftp://a.example/", f"ipfs://{CID}/../x", "javascript:alert(1)", ""],
)
def test_other_urls_have_a_placeholder_and_cost_nothing(client, host, url):
    token = TokenFactory(img_url=url)
    assert "<img" not in render_to_string("site/picture.html", {"token": token})
    answer = client.get(picture_path(token))
    assert is_placeholder(answer) if url else answer.status_code == 404
    assert fetch_wanted_pictures() == 0


def test_only_the_current_key_of_a_known_token_has_a_picture(client, host):
    token = TokenFactory(img_url=host.put("/a", Page(body=encoded(plain_picture()))))
    other = TokenFactory(img_url="https://other.example/")
    for key in (picture_key(other.img_url), "0" * 32, "x", "..%2f..%2fx", "0" * 5_000):
        assert client.get(picture_path(token, key=key)).status_code == 404
    key = picture_key(token.img_url)
    for path in (f"/pictures/1/{token.contract_address}/{key}.webp", f"/pictures/8453/0x12/{key}.webp"):
        assert client.get(path).status_code == 404
    assert client.post(picture_path(token)).status_code == 405
    assert fetch_wanted_pictures() == 0


def test_a_changed_picture_has_a_new_address(client, host):
    token = TokenFactory(img_url="https://a.example/1")
    before = picture_path(token)
    token.img_url = "https://a.example/2"
    token.save()
    assert picture_path(token) != before and client.get(before).status_code == 404


def test_a_blocked_token_shows_no_picture(client, host):
    token = TokenFactory(img_url="https://a.example/1", blocked=True)
    store_picture(picture_key(token.img_url), b"stored")
    assert is_placeholder(client.get(picture_path(token)))
    assert fetch_wanted_pictures() == 0


def test_nothing_is_fetched_and_served_where_pictures_are_off(client, host, settings):
    token = TokenFactory(img_url=host.put("/a", Page(body=encoded(plain_picture()))))
    request_picture(token.img_url)
    settings.SITE_PICTURES = False
    assert client.get(picture_path(token)).status_code == 404
    assert fetch_wanted_pictures() == 0 and host.received == []
    assert "<img" not in render_to_string("site/picture.html", {"token": token})


def test_a_directory_that_is_not_shared_costs_one_fetch(client, host, settings, tmp_path, caplog):
    token = TokenFactory(img_url=host.put("/a", Page(body=encoded(plain_picture()))))
    web, worker = tmp_path / "web", tmp_path / "worker"
    for number in range(3):
        settings.SITE_PICTURE_DIR = web
        assert is_placeholder(client.get(picture_path(token)))
        settings.SITE_PICTURE_DIR = worker
        assert fetch_wanted_pictures() == 1
        assert ("do all of them read this SITE_PICTURE_DIR?" in caplog.text) == (number > 0)
        assert number == 0 or 3_500 < seconds_until_retry(token.img_url) <= 3_600
        forget_claims()
    assert host.received == ["/a"]
    assert client.get(picture_path(token)).headers["Content-Type"] == "image/webp"


def test_one_visitors_pictures_have_a_limit_of_their_own(client, host, settings):
    settings.RATE_LIMIT_PICTURES, settings.RATE_LIMIT_PAGES = 20, 1
    tokens = [TokenFactory(img_url=f"https://a.example/{number}") for number in range(21)]
    answers = [client.get(picture_path(token), REMOTE_ADDR="192.0.2.61") for token in tokens]
    assert [answer.status_code for answer in answers] == [200] * 20 + [429]
    assert answers[-1].content == b"" and answers[-1].headers["Cache-Control"] == "no-store"
    assert client.get("/status", REMOTE_ADDR="192.0.2.61").status_code == 200
    assert is_placeholder(client.get(picture_path(tokens[0]), REMOTE_ADDR="192.0.2.62"))


@pytest.mark.parametrize("place", ["/proc/pictures", "/dev/null", "/dev/full"])
def test_a_directory_that_cannot_be_written_costs_only_the_pictures(client, host, settings, place, caplog):
    settings.SITE_PICTURE_DIR = place
    token = TokenFactory(img_url=host.put("/a", Page(body=encoded(plain_picture()))))
    client.get(picture_path(token))
    for _ in range(2):
        fetch_wanted_pictures()
        assert is_placeholder(client.get(picture_path(token)))
    assert host.received == ["/a"] and "can't be stored in SITE_PICTURE_DIR" in caplog.text


def test_a_full_disk_leaves_no_half_file(host, tmp_path):
    key = picture_key("a")
    # A directory instead of the file fails as late as a full disk does: when the file gets its name.
    (tmp_path / key[:2] / f"{key}.webp" / "x").mkdir(parents=True)
    with pytest.raises(OSError):
        store_picture(key, b"body")
    assert [path.name for path in (tmp_path / key[:2]).iterdir()] == [f"{key}.webp"]


def test_the_oldest_pictures_are_removed_above_the_limit(host, tmp_path):
    keys = [picture_key(str(number)) for number in range(10)]
    for number, key in enumerate(keys):
        store_picture(key, b"x" * 4_096)
        os.utime(tmp_path / key[:2] / f"{key}.webp", (1_000 + number, 1_000 + number))
    abandoned = tmp_path / keys[0][:2] / "new-abandoned"
    abandoned.write_bytes(b"x")
    os.utime(abandoned, (1_000, 1_000))
    assert prune_pictures(40_960) == 0
    assert not abandoned.exists()
    assert prune_pictures(5 * 4_096) == 6
    assert [read_picture(key) is None for key in keys] == [True] * 6 + [False] * 4


def test_a_round_keeps_the_limit_of_the_disk_once_a_minute(host, settings):
    settings.SITE_PICTURE_MB = 0
    urls = [host.put(path, Page(body=encoded(plain_picture()))) for path in ("/a", "/b")]
    for url in urls:
        request_picture(url)
        assert fetch_wanted_pictures() == 1
    assert [read_picture(picture_key(url)) is None for url in urls] == [True, False]


def test_without_redis_pages_have_placeholders(client, host, own_server):
    token = TokenFactory(img_url=host.put("/a", Page(body=encoded(plain_picture()))))
    own_server.stop()
    assert is_placeholder(client.get(picture_path(token)))
    tasks.fetch_pictures()
    assert host.received == []


@pytest.mark.django_db(transaction=True)
def test_one_round_runs_at_a_time(client, host):
    image = Page(body=encoded(plain_picture()))
    urls = [host.put(path, image) for path in ("/a", "/b")]
    host.opened.clear()
    request_picture(urls[0])
    counts = []

    def run() -> None:
        counts.append(fetch_wanted_pictures())
        close_old_connections()

    first = threading.Thread(target=run)
    first.start()
    wait_for(lambda: host.received)
    request_picture(urls[1])
    tasks.fetch_pictures()
    assert host.received == ["/a"]
    host.opened.set()
    first.join()
    # The first round goes on with what was requested meanwhile.
    assert counts == [2] and host.received == ["/a", "/b"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_of_the_documents_queue_fetches_pictures(client, host, service_environment, tmp_path, settings):
    settings.SITE_PICTURE_DIR = tmp_path / "pictures"
    token = TokenFactory(img_url=host.put("/a", Page(body=encoded(plain_picture()))))
    environment = service_environment | {
        "OUTBOUND_ALLOWED_NETWORKS": "127.0.0.1",
        "SITE_PICTURES": "true",
        "SITE_PICTURE_DIR": str(settings.SITE_PICTURE_DIR),
    }
    settings.REDIS_URL = environment["REDIS_URL"]
    beat = ["beat", "--scheduler", "celery.beat:Scheduler", "--pidfile=", "--schedule", str(tmp_path / "schedule")]
    of_documents = ["worker", "--queues", "documents", "--concurrency", "1", "--loglevel", "warning"]
    assert is_placeholder(client.get(picture_path(token)))
    with fork_server(environment) as server:
        server.celery(*beat)
        server.celery(*of_documents)
        wait_for(lambda: read_picture(picture_key(token.img_url)))
    assert (client.get(picture_path(token)).headers["Content-Type"], host.received) == ("image/webp", ["/a"])


@pytest.mark.parametrize(
    ("symbol", "letters"),
    [
        ("HIGHER", "HI"),
        ("x", "X"),
        ("", "?"),
        (None, "?"),
        ("🚀🚀", "?"),
        ("🚀moon", "MO"),
        ("$9 lives", "9L"),
        ("\u202eab", "AB"),
        ("哈基米", "哈"),
        ("a哈", "A"),
        ("ßß", "SS"),
        ("مرحبا", "مر"),
        ("z" + "\u0301" * 100, "Z"),
        ("\0\n<&", "?"),
        ("A" * 10_000, "AA"),
    ],
)
def test_placeholders_have_a_letter_or_two(symbol, letters):
    assert initials(symbol) == letters


def test_placeholders_contain_nothing_else_of_a_token():
    body = placeholder_svg(HOSTILE, "0xABC").decode()
    assert body.count("<") == 5 and ">BD</text>" in body and "script" not in body and "style" not in body
    assert TINTS[tint_number("0xabc")] in body


def test_tints_are_readable_and_those_of_the_stylesheet():
    stylesheet = stylesheet_text()
    for number, color in enumerate(TINTS):
        assert contrast(parse_color(color), parse_color("#ffffff")) >= READABLE
        assert f".tint-{number} {{ background: {color}; }}" in stylesheet
    assert {tint_number(f"0x{number}") for number in range(200)} == set(range(len(TINTS)))


def test_a_picture_has_a_fixed_size_and_is_loaded_late(host):
    token = TokenFactory(img_url="https://a.example/?q=\"'><script>")
    html = render_to_string("site/picture.html", {"token": token}).strip()
    assert html == (
        '<img class="picture" width="40" height="40" loading="lazy" decoding="async" alt="" '
        f'src="{picture_path(token)}">'
    )


def test_a_drawn_placeholder_is_hidden_from_screen_readers():
    token = TokenFactory(symbol=HOSTILE)
    html = render_to_string("site/picture.html", {"token": token}).strip()
    tint = tint_number(token.contract_address)
    assert html == f'<span class="picture letter tint-{tint}" aria-hidden="true">BD</span>'
