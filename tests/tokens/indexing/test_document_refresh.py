"""Documents of tokens: claimed by one worker at a time, fetched outside of transactions, folded into their tokens."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.db import close_old_connections, connection
from django.db.models import F
from django.utils import timezone

from config.environment.variables import BASE_DIR
from config.postgresql.advisory_locks import LockHeldError
from tests.nodes.document_host import DocumentHost, Page, document_host, json_page, redirect
from tests.processes.database_gates import database_gate
from tests.processes.fork_server import fork_server
from tests.processes.waiting import wait_for
from tests.rows.factories import TokenDocumentFactory, TokenFactory
from tests.rows.written_facts import drawn_launches, launch_facts_of, write_all
from tokens.indexing import tasks
from tokens.indexing.documents import fetching
from tokens.models import Token, TokenDocument

pytestmark = pytest.mark.django_db

DOCUMENT = {
    "name": "Other",
    "symbol": "OTHER",
    "description": "A coffee.",
    "image": "ipfs://picture",
    "twitter": "https://x.com/qahwa",
}
LINKS = [{"platform": "twitter", "url": "https://x.com/qahwa"}]
CONTENT = {"description": "A coffee.", "img_url": "ipfs://picture", "socialMediaUrls": LINKS}
CID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"


@pytest.fixture
def host(settings) -> Iterator[DocumentHost]:
    settings.OUTBOUND_ALLOWED_NETWORKS = (ip_network("127.0.0.1"),)
    with document_host() as running:
        yield running


def launched(uri: str, *, image: str | None = None, metadata: str | None = None) -> TokenDocument:
    """Return the document of a token whose launch names it, and contains little else, as Solana's do."""
    (launch,) = drawn_launches(1)
    write_all(launch_facts_of([replace(launch, uri=uri, image=image, metadata=metadata)]))
    return TokenDocument.objects.get(token__contract_address=launch.token)


def make_due() -> None:
    TokenDocument.objects.update(due_at=timezone.now() - timedelta(seconds=1))


def pause_of(document: TokenDocument) -> float:
    document.refresh_from_db()
    return (document.due_at - timezone.now()).total_seconds()


def test_nothing_is_fetched_where_an_operator_disables_it(host, settings):
    settings.FETCH_DOCUMENTS = False
    document = TokenDocumentFactory(uri=host.put("/a", json_page(DOCUMENT)))
    assert fetching.fetch_due_documents() == 0
    document.refresh_from_db()
    assert (document.status, document.attempts, host.received) == ("pending", 0, [])


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (Page(body=b"<html>"), "a document that is not JSON"),
        (json_page([1]), "a document that is no JSON object"),
        (Page(status=410), "HTTP status 410"),
        (Page(body=b" " * 300_000), "a response of more than 262144 bytes"),
        (redirect("http://169.254.169.254/latest/meta-data"), "a host without a public address, or another port"),
        (redirect("file:///etc/passwd"), "a URL that is not http"),
    ],
)
def test_what_no_later_try_mends_is_given_up_with_the_reason(host, page, reason):
    document = TokenDocumentFactory(uri=host.put("/a", page))
    assert fetching.fetch_due_documents() == 1
    document.refresh_from_db()
    assert (document.status, document.content, document.fetched_at) == ("failed", {}, None)
    assert document.last_error.startswith(reason)
    assert fetching.fetch_due_documents() == 0


@pytest.mark.parametrize("uri", ["http://127.0.0.2:80/", "http://localhost/", "ipns://x", "", "x", "http://10.0.0.1/"])
def test_a_uri_of_nothing_public_is_given_up(host, settings, uri):
    settings.OUTBOUND_ALLOWED_NETWORKS = ()
    document = TokenDocumentFactory(uri=uri)
    fetching.fetch_due_documents()
    document.refresh_from_db()
    assert document.status == "failed"


@pytest.mark.parametrize("status", [404, 408, 425, 429, 500, 502, 503])
def test_what_may_come_later_is_fetched_again(host, status):
    document = TokenDocumentFactory(uri=host.put("/a", Page(status=status), json_page(DOCUMENT)))
    fetching.fetch_due_documents()
    assert 5 < pause_of(document) <= fetching.BACKOFF.first
    assert (document.status, document.attempts) == ("pending", 1)
    assert document.last_error == f"HTTP status {status}"
    make_due()
    fetching.fetch_due_documents()
    document.refresh_from_db()
    assert (document.status, document.attempts, document.last_error) == ("fetched", 2, "")
    assert document.content == CONTENT


def test_pauses_triple_until_it_is_given_up(host, settings):
    settings.DOCUMENT_ATTEMPTS = 4
    document = TokenDocumentFactory(uri=host.put("/a", Page(status=500)))
    for seconds in (15, 45, 135):
        fetching.fetch_due_documents()
        assert seconds - 10 < pause_of(document) <= seconds
        make_due()
    fetching.fetch_due_documents()
    document.refresh_from_db()
    assert (document.status, document.attempts, document.last_error) == ("failed", 4, "HTTP status 500")


def test_no_retry_delay_is_longer_than_a_day_and_a_host_may_set_one(host):
    TokenDocumentFactory(uri=host.put("/a", Page(status=500)), attempts=10)
    asks = TokenDocumentFactory(uri=host.put("/b", Page(status=429, headers={"retry-after": "3600"})))
    fetching.fetch_due_documents()
    assert 86_000 < pause_of(TokenDocument.objects.get(attempts=11)) <= 86_400
    assert 3_500 < pause_of(asks) <= 3_600


def test_it_becomes_the_tokens_description_image_and_links(host):
    document = launched(host.put("/a", json_page(DOCUMENT)))
    before = document.token
    assert tasks.fetch_documents() is None
    token, document = Token.objects.get(), TokenDocument.objects.get()
    assert (document.status, document.content) == ("fetched", CONTENT)
    assert (token.description, token.img_url) == ("A coffee.", "ipfs://picture")
    assert token.metadata == {"auditUrls": [], "description": "A coffee.", "socialMediaUrls": LINKS}
    assert (token.name, token.symbol) == (before.name, before.symbol)


def test_on_chain_values_override_the_document(host):
    uri = host.put("/a", json_page(DOCUMENT))
    launched(uri, image="https://chain.example/a.png", metadata='{"description": "The chain\'s."}')
    fetching.fetch_due_documents()
    token = Token.objects.get()
    assert (token.description, token.img_url) == ("The chain's.", "https://chain.example/a.png")
    assert token.metadata["socialMediaUrls"] == LINKS


def test_writing_a_launch_again_keeps_it(host):
    uri = host.put("/a", json_page(DOCUMENT))
    launched(uri)
    fetching.fetch_due_documents()
    assert launched(uri).status == "fetched"
    assert launched(f"{uri}?new").content == CONTENT
    token = Token.objects.get()
    assert (token.description, token.img_url) == ("A coffee.", "ipfs://picture")
    assert token.metadata["socialMediaUrls"] == LINKS


def test_documents_on_ipfs_come_from_the_gateway(host, settings):
    settings.IPFS_GATEWAY_URL = (f"{host.url}/ipfs",)
    host.put(f"/ipfs/{CID}/meta%20data.json", json_page(DOCUMENT))
    document = launched(f"ipfs://{CID}/meta data.json")
    fetching.fetch_due_documents()
    document.refresh_from_db()
    assert document.content == CONTENT


@pytest.mark.parametrize("first", [Page(status=500), Page(status=404), Page(status=451), Page(body=b"x" * 300_000)])
def test_the_next_gateway_is_used_where_one_has_no_document(host, settings, first):
    settings.IPFS_GATEWAY_URL = (f"{host.url}/down", f"{host.url}/ipfs")
    host.put(f"/down/{CID}", first)
    host.put(f"/ipfs/{CID}", json_page(DOCUMENT))
    document = launched(f"/ipfs/{CID}")
    fetching.fetch_due_documents()
    document.refresh_from_db()
    assert document.content == CONTENT


def test_a_document_is_due_again_if_one_of_its_gateways_may_return_it_later(host, settings):
    settings.IPFS_GATEWAY_URL = (f"{host.url}/late", f"{host.url}/ipfs")
    host.put(f"/ipfs/{CID}", Page(status=451))
    document = launched(f"ipfs:/{CID}")
    fetching.fetch_due_documents()
    document.refresh_from_db()
    assert (document.status, document.last_error) == ("pending", "HTTP status 404")


def test_without_a_gateway_a_document_on_ipfs_reports_it(settings):
    settings.IPFS_GATEWAY_URL = ()
    document = TokenDocumentFactory(uri=f"ipfs://{CID}")
    fetching.fetch_due_documents()
    document.refresh_from_db()
    assert (document.status, document.last_error) == (
        "failed",
        "IPFS_GATEWAY_URL is off: such documents are not fetched",
    )


def test_a_document_in_its_uri_needs_no_host():
    document = TokenDocumentFactory(uri='data:application/json,{"description": "Here."}')
    fetching.fetch_due_documents()
    document.refresh_from_db()
    assert document.content["description"] == "Here."


def test_texts_that_postgresql_refuses_are_kept_without_what_it_refuses(host):
    document = launched(host.put("/a", Page(body=b'{"description": "a\\u0000\\ud800", "image": "https://a/\\u0000"}')))
    fetching.fetch_due_documents()
    document.refresh_from_db()
    assert (document.content["description"], document.content["img_url"]) == ("a\ufffd", "https://a/")
    assert Token.objects.get().description == "a\ufffd"


def test_a_host_is_one_host_however_it_is_written():
    for n, place in enumerate(
        ["https://a.example", "https://A.EXAMPLE:443", "HTTP://a.example:80", "https://a.example."]
    ):
        TokenDocumentFactory.create_batch(2, uri=f"{place}/{n}")
    assert len(fetching.claim_documents(timezone.now())) == fetching.MAX_PER_HOST


def test_one_host_has_a_few_places_and_new_documents_come_first():
    hour_ago = timezone.now() - timedelta(hours=1)
    old = [TokenDocumentFactory(uri=f"https://SLOW.example/{n}", due_at=hour_ago) for n in range(20)]
    on_ipfs = [TokenDocumentFactory(uri=f"ipfs://{CID}/{n}") for n in range(6)]
    tried = [TokenDocumentFactory(uri=f"https://tried.example/{n}", attempts=1) for n in range(3)]
    others = [TokenDocumentFactory(uri=f"https://{n}.example/") for n in range(7)]
    claimed = {document.token_id for document in fetching.claim_documents(timezone.now())}
    assert len(claimed) == fetching.BATCH_SIZE
    assert len(claimed & {document.pk for document in old}) == fetching.MAX_PER_HOST
    assert len(claimed & {document.pk for document in on_ipfs}) == fetching.MAX_PER_HOST
    assert claimed >= {document.pk for document in others}
    assert len(claimed & {document.pk for document in tried}) == 1


def test_a_document_whose_uri_changed_meanwhile_is_fetched_anew():
    TokenDocumentFactory()
    (late,) = fetching.claim_documents(timezone.now())
    TokenDocument.objects.update(uri="https://other.example/")
    fetching.store_outcome(late, fetching.FetchOutcome(content=CONTENT))
    assert TokenDocument.objects.get().content == {}


def test_slow_hosts_wait_beside_each_other(host, settings):
    settings.DOCUMENT_TIMEOUT_SECONDS = 0.3
    host.opened.clear()
    for n in range(fetching.MAX_PER_HOST):
        TokenDocumentFactory(uri=f"{host.url}/{n}")
    round_of_all = fetching.fetch_due_documents()
    assert round_of_all == fetching.MAX_PER_HOST
    assert len(host.received) == fetching.MAX_PER_HOST
    assert set(TokenDocument.objects.values_list("last_error", flat=True)) == {"a response that takes too long"}


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_fetch_a_document_once(host):
    host.opened.clear()
    document = launched(host.put("/a", json_page(DOCUMENT)))
    counts: list[int] = []

    def work() -> None:
        counts.append(fetching.fetch_due_documents())
        connection.close()

    first = threading.Thread(target=work)
    first.start()
    wait_for(lambda: host.received)
    assert fetching.claim_documents(timezone.now()) == []
    TokenDocumentFactory()
    with pytest.raises(LockHeldError):
        fetching.fetch_due_documents()
    tasks.fetch_documents()
    TokenDocument.objects.exclude(pk=document.pk).delete()
    host.opened.set()
    first.join()
    close_old_connections()
    assert (counts, host.received) == ([1], ["/a"])
    document.refresh_from_db()
    assert document.content == CONTENT


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_before_it_stores_loses_nothing(host, service_environment):
    document = launched(host.put("/a", json_page(DOCUMENT)))
    program = (
        "import django; django.setup(); from tokens.indexing.documents import fetching; fetching.fetch_due_documents()"
    )
    environment = service_environment | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "OUTBOUND_ALLOWED_NETWORKS": "127.0.0.1",
    }
    when = "NEW.status = 'fetched'"
    with database_gate(service_environment["DATABASE_URL"], "tokens_tokendocument", on="UPDATE", when=when) as gate:
        worker = subprocess.Popen([sys.executable, "-c", program], cwd=BASE_DIR, env=environment)
        try:
            gate.wait()
        finally:
            worker.kill()
            worker.wait()
        gate.lose()
    document.refresh_from_db()
    assert (document.status, document.content, document.attempts, document.unfinished) == ("pending", {}, 0, 1)
    assert Token.objects.get().description == ""
    make_due()
    assert fetching.fetch_due_documents() == 1
    assert host.received == ["/a", "/a"]
    assert Token.objects.get().description == "A coffee."


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_of_its_queue_fetches_what_beat_enqueues(host, service_environment, tmp_path):
    document = launched(host.put("/a", json_page(DOCUMENT)))
    environment = service_environment | {"OUTBOUND_ALLOWED_NETWORKS": "127.0.0.1"}
    beat = ["beat", "--scheduler", "celery.beat:Scheduler", "--pidfile=", "--schedule", str(tmp_path / "schedule")]
    of_documents = ["worker", "--queues", "documents", "--concurrency", "1", "--loglevel", "warning"]
    with fork_server(environment) as server:
        server.celery(*beat)
        server.celery(*of_documents)
        wait_for(lambda: TokenDocument.objects.filter(status="fetched").exists())
    assert (Token.objects.get(pk=document.pk).description, host.received) == ("A coffee.", ["/a"])


def test_fetching_again_starts_anew_and_keeps_the_former_content(host):
    document = launched(host.put("/a", json_page(DOCUMENT), Page(status=410), json_page({"description": "New."})))
    fetching.fetch_due_documents()
    assert fetching.reopen_documents([document]) == 1
    fetching.fetch_due_documents()
    document.refresh_from_db()
    assert (document.status, Token.objects.get().description) == ("failed", "A coffee.")
    fetching.reopen_documents([document])
    fetching.fetch_due_documents()
    document.refresh_from_db()
    token = Token.objects.get()
    assert (document.status, document.attempts) == ("fetched", 1)
    assert (token.description, token.img_url, token.metadata["socialMediaUrls"]) == ("New.", "", [])


def test_a_document_of_a_token_whose_launch_is_not_kept_is_kept_by_itself(host):
    document = TokenDocumentFactory(token=TokenFactory(), uri=host.put("/a", json_page(DOCUMENT)))
    fetching.fetch_due_documents()
    document.refresh_from_db()
    assert (document.status, document.token.description) == ("fetched", "")
    assert TokenDocument.objects.filter(fetched_at__gte=F("due_at") - timedelta(days=1)).exists()
