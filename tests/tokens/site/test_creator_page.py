"""The public page `/creators/{creator}`: facts about a user or wallet, and the launches."""

import html
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from config.site.formats import COUNTED_LAUNCHES
from tests.html_pages import HOSTILE, read_page
from tests.rows.factories import FeeClaimFactory, SocialProfileFactory, SolanaTokenFactory, TokenFactory
from tests.rows.fee_sums import sum_all_chains
from tests.rows.many_tokens import multiply
from tokens.models import Market

pytestmark = pytest.mark.django_db

FID = 977
WALLET = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
WETH, USDC = "0x4200000000000000000000000000000000000006", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"


def launch(*, ago=timedelta(days=1), market=None, **columns):
    """Create a launch, by default by the user, with these market columns."""
    is_wallets = {"msg_sender", "requestor_address"} & set(columns)
    creator = {} if is_wallets else {"requestor_fid": FID, "known_interface_deployer": True}
    token = TokenFactory(deployed_at=timezone.now() - ago, **creator | columns)
    Market.objects.filter(pk=token.pk).update(**market or {})
    return token


def text_of(answer):
    return " ".join(" ".join(read_page(answer).texts).split())


def launched(answer):
    """Return the token addresses in the list, in its order."""
    found = [address.rpartition("/")[2] for address in read_page(answer).addresses if address.startswith("/tokens/")]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_it_is_only_read(client, method):
    assert getattr(client, method)(f"/creators/{FID}").status_code == 405


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "007",
        "-1",
        str(2**63),
        "9" * 400,
        "\u0661",
        "0x12",
        "%00",
        "<script>",
        "alice",
        "0x" + "g" * 40,
        "1" * 31 + "0",
    ],
)
def test_what_is_no_creator_has_a_404_page(client, text):
    answer = client.get(f"/creators/{text}")
    assert (answer.status_code, "Not found" in answer.text) == (404, True)


@pytest.mark.parametrize("text", [str(FID), str(2**63 - 1), WALLET, "So11111111111111111111111111111111111111112"])
def test_a_creator_without_launches(client, text):
    TokenFactory()
    launch(blocked=True)
    launch(unindexed=True)
    launch(msg_sender=WALLET, blocked=True)
    answer = client.get(f"/creators/{text}")
    shown = text_of(answer)
    assert "No launch of this creator is listed here." in shown and "0 launches" in shown
    assert "First launch" not in shown and launched(answer) == []
    assert '<meta name="robots" content="noindex">' in answer.text


def test_a_user_with_a_profile_and_launches(client):
    SocialProfileFactory(fid=FID, username="ada", display_name="Ada L.", bio="Makes <b>tokens</b>")
    recent = timezone.now() - timedelta(days=6)
    old = launch(ago=timedelta(days=40), market={"volume_24h": None, "last_trade_at": recent - timedelta(days=2)})
    middle = launch(ago=timedelta(days=20), market={"volume_24h": 1000.0, "last_trade_at": recent})
    new = launch(ago=timedelta(hours=2), market={"volume_24h": 234.0, "tx_count_24h": 5})
    answer = client.get(f"/creators/{FID}")
    text = text_of(answer)
    for part in (
        "Name Ada L.",
        f"FID {FID}",
        "3 launches",
        "2 launches had a trade",
        "Makes <b>tokens</b>",
    ):
        assert part in text
    assert re.search(r"First launch 40d\s+ago", text) and re.search(r"Last launch 2h\s+ago", text)
    assert "Volume, 24 h $1.23K" in text
    assert launched(answer) == [each.contract_address for each in (new, middle, old)]
    assert "noindex" not in answer.text and "<title>ada · " in answer.text and "<h1><bdi>ada</bdi></h1>" in answer.text


def test_a_user_has_one_name_everywhere(client):
    SocialProfileFactory(fid=FID, username="ada", display_name="Ada L.")
    SocialProfileFactory(fid=FID + 1, username="", display_name="Grace")
    for name, token in (("ada", launch()), ("Grace", launch(requestor_fid=FID + 1))):
        path = f"/creators/{token.requestor_fid}"
        assert f"<h1><bdi>{name}</bdi></h1>" in client.get(path).text
        for page in ("/", f"/tokens/8453/{token.contract_address}"):
            assert f'<a href="{path}"><bdi>{name}</bdi></a>' in client.get(page).text.replace("\n", "")


def test_a_wallet_in_any_spelling_that_sent_or_requested(client):
    sent = launch(msg_sender=WALLET)
    requested = launch(requestor_address=WALLET, ago=timedelta(days=2))
    launch(admin=WALLET, requestor_address="")
    for spelling in (WALLET, WALLET.lower(), "0X" + WALLET[2:].upper()):
        answer = client.get(f"/creators/{spelling}")
        assert launched(answer) == [sent.contract_address, requested.contract_address]
        assert f'<link rel="canonical" href="http://127.0.0.1:8000/creators/{WALLET}">' in answer.text


def test_a_wallet_of_solana(client):
    token = SolanaTokenFactory()
    assert launched(client.get(f"/creators/{token.msg_sender}")) == [token.contract_address]


def test_claimed_fees_of_a_wallet_in_known_currencies(client):
    for currency, amount in (
        (WETH, 10**18),
        (WETH, 5 * 10**17),
        (USDC, 2_500_000),
        (TokenFactory().contract_address, 7),
    ):
        FeeClaimFactory(recipient=WALLET, currency=currency, amount=Decimal(amount))
    FeeClaimFactory(currency=WETH)
    assert "Claimed fees" not in text_of(client.get(f"/creators/{WALLET}"))
    sum_all_chains()
    text = text_of(client.get(f"/creators/{WALLET}"))
    assert "Claimed fees 1.50 WETH on Base 2.50 USDC on Base Launches" in text
    assert "Claimed fees" not in text_of(client.get(f"/creators/{FID}"))


def test_pages_of_20_and_facts_of_all(client):
    tokens = [launch(ago=timedelta(hours=hours)) for hours in range(45)]
    address, found = f"/creators/{FID}", []
    for size in (20, 20, 5):
        answer = client.get(address)
        assert len(launched(answer)) == size and "45 launches" in text_of(answer)
        found += launched(answer)
        link = re.search(r'<a href="([^"]+)" rel="next">', answer.text)
        address = f"/creators/{FID}" + html.unescape(link[1]) if link else None
    assert address is None and found == [token.contract_address for token in tokens]
    assert f"/creators/{FID}" in read_page(answer).addresses and "First page" in answer.text


def test_a_prolific_creator_is_not_counted_to_the_end(client):
    values = {"id": "nextval('tokens_token_id_seq')", "contract_address": "'0x' || lpad(n::text, 40, '0')"}
    multiply(TokenFactory(requestor_fid=FID), values, rows=COUNTED_LAUNCHES + 2)
    assert Market.objects.update(volume_24h=1.0, last_trade_at=timezone.now()) == COUNTED_LAUNCHES + 2
    text = text_of(client.get(f"/creators/{FID}"))
    assert "First launch" not in text and "1,000 of the newest 1,000 had a trade" in text


@pytest.mark.parametrize(
    "name", [HOSTILE, "\u202eevil", "\u0645\u0631\u062d\u0628\u0627", "x" * 10_000, "\U0001f680" * 900]
)
def test_strange_names_run_nothing_and_stay_short(client, name):
    SocialProfileFactory(fid=FID, username=name, display_name=name, bio=name)
    launch(name=name, symbol=name)
    answer = client.get(f"/creators/{FID}")
    read_page(answer)
    assert "\u202e" not in answer.text and "<script>alert" not in answer.text and len(answer.text) < 20_000


def test_at_most_seven_queries_for_any_number_of_launches(client, django_assert_max_num_queries):
    SocialProfileFactory(fid=FID)
    for hours in range(25):
        launch(ago=timedelta(hours=hours))
        launch(ago=timedelta(hours=hours), requestor_address=WALLET)
    for text in (str(FID), WALLET):
        with django_assert_max_num_queries(7):
            client.get(f"/creators/{text}")


def test_caches_keep_it_for_five_seconds(client, settings):
    answer = client.get(f"/creators/{FID}")
    assert answer.headers["Cache-Control"] == "public, s-maxage=5"
    assert f"/creators/{FID}".startswith(settings.EDGE_CACHE_PREFIXES)


def test_an_installation_may_leave_it_out(client, settings):
    launch()
    assert f"/creators/{FID}" in read_page(client.get("/")).addresses
    settings.SITE_SECTIONS = frozenset({"status"})
    assert client.get(f"/creators/{FID}").status_code == 404
    assert f"/creators/{FID}" not in read_page(client.get("/")).addresses
