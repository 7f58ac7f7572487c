"""tokens/chains/evm/subscriptions.py: new heads by WebSocket, from a real node and faulty servers."""

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from development.devchain.anvil import CHAIN_ID
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.recorded_node import SECRET
from tests.nodes.recordings import recorded_chain
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.subscriptions import SubscriptionLostError, subscribe_new_heads
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.client import RpcClient

NAME = "0x51"
BLOCK = recorded_chain()["blocks"][7]
NEXT = recorded_chain()["blocks"][8]

Answer = Callable[[str], object]


def answers(method: str) -> object:
    return {"eth_chainId": "0x2105", "eth_subscribe": NAME, "eth_getBlockByNumber": NEXT}[method]


@contextlib.contextmanager
def server(*sent_heads: object, answer: Answer = answers, after: Callable[[ServerConnection], None] | None = None):
    """Yield the URL of a node that sends these blocks after a subscription, and then does as `after` defines."""

    def handle(connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            for text in connection:
                call = json.loads(text)
                connection.send(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": answer(call["method"])}))
                if call["method"] == "eth_subscribe":
                    for block in sent_heads:
                        connection.send(block if isinstance(block, str) else notification(block))
                    if after:
                        after(connection)

    with serve(handle, "127.0.0.1", 0) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"ws://127.0.0.1:{running.socket.getsockname()[1]}/v2/{SECRET}"
        running.shutdown()
        thread.join()


def notification(block: object, name: str = NAME) -> str:
    params = {"subscription": name, "result": block}
    return json.dumps({"jsonrpc": "2.0", "method": "eth_subscription", "params": params})


@contextlib.contextmanager
def silent_port() -> Iterator[str]:
    """Yield the URL of a port that accepts connections and sends nothing."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield f"ws://127.0.0.1:{listener.getsockname()[1]}/v2/{SECRET}"


@contextlib.contextmanager
def stalling(url: str) -> Iterator[tuple[str, threading.Event]]:
    """Yield the URL of a relay to this one, and an event that, once set, makes it drop the node's messages."""
    port, stalled = int(url.split(":")[2].split("/")[0]), threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, target: socket.socket, swallow: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if not swallow.is_set():
                    target.sendall(data)
        target.close()

    def accept() -> None:
        with contextlib.suppress(OSError):
            caller, _ = listening.accept()
            node = socket.create_connection(("127.0.0.1", port))
            threading.Thread(target=pump, args=(caller, node, threading.Event()), daemon=True).start()
            threading.Thread(target=pump, args=(node, caller, stalled), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with contextlib.closing(listening):
        yield f"ws://127.0.0.1:{listening.getsockname()[1]}", stalled


@pytest.mark.parametrize(
    "answer",
    [
        lambda method: {"eth_chainId": "0x1"}.get(method, NAME),
        lambda method: {"eth_chainId": "0x2105"}.get(method),
        lambda method: {"eth_chainId": "0x2105"}.get(method, 5),
    ],
    ids=["another chain", "null", "a number"],
)
def test_it_takes_no_subscription_from_a_node_that_answers_with(answer):
    with server(answer=answer) as url, pytest.raises(SubscriptionLostError), subscribe_new_heads(url, chain_id=8453):
        pass


def test_it_gives_up_on_a_node_that_takes_no_connections(unused_port):
    with pytest.raises(SubscriptionLostError), subscribe_new_heads(f"ws://127.0.0.1:{unused_port}", chain_id=8453):
        pass


def test_it_gives_up_on_a_port_that_sends_nothing():
    with (
        silent_port() as url,
        pytest.raises(SubscriptionLostError),
        subscribe_new_heads(url, chain_id=8453, timeout=0.1),
    ):
        pass


def test_it_gives_up_on_a_node_that_never_answers():
    released = threading.Event()

    def hang(_method: str) -> object:
        released.wait(120)
        return None

    with server(answer=hang) as url:
        with (
            pytest.raises(SubscriptionLostError, match="too long"),
            subscribe_new_heads(url, chain_id=8453, timeout=0.1),
        ):
            pass
        released.set()


@pytest.mark.parametrize("message", ["no json", "[]", "7"])
def test_a_message_that_is_no_json_rpc_ends_it(message):
    with (
        server(message) as url,
        subscribe_new_heads(url, chain_id=8453) as subscription,
        pytest.raises(SubscriptionLostError, match="JSON-RPC"),
    ):
        subscription.next_header(timeout=60)


def test_a_connection_that_ends_is_noticed():
    with (
        server(after=lambda connection: connection.close()) as url,
        subscribe_new_heads(url, chain_id=8453) as subscription,
        pytest.raises(SubscriptionLostError, match="ended"),
    ):
        subscription.next_header(timeout=60)


def test_a_node_that_hangs_is_noticed_by_its_pings():
    with (
        server() as url,
        stalling(url) as (relayed, stalled),
        subscribe_new_heads(relayed, chain_id=8453, ping_seconds=0.05) as subscription,
    ):
        assert subscription.next_header(timeout=0.2) is None
        stalled.set()
        with pytest.raises(SubscriptionLostError, match="ended"):
            subscription.next_header(timeout=30)


def test_no_part_of_the_url_is_in_its_errors(unused_port):
    urls = [f"ws://127.0.0.1:{unused_port}/v2/{SECRET}", f"nonsense://{SECRET}", f"ws://{SECRET}.invalid/"]
    for url in urls:
        with pytest.raises(SubscriptionLostError) as caught, subscribe_new_heads(url, chain_id=8453, timeout=1):
            pass
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None

    def refuse(method: str) -> object:
        return f"0x2105 {SECRET}"

    with (
        server(answer=refuse) as url,
        pytest.raises(SubscriptionLostError) as caught,
        subscribe_new_heads(url, chain_id=8453),
    ):
        pass
    assert SECRET not in str(caught.value)


def test_seconds_without_a_block_are_no_trouble():
    with server() as url, subscribe_new_heads(url, chain_id=8453) as subscription:
        assert subscription.next_header(timeout=0.05) is None


def test_what_is_about_another_subscription_is_passed_over():
    sent_heads = threading.Event()
    with (
        server(notification(BLOCK, name="0x52"), after=lambda _: sent_heads.set()) as url,
        subscribe_new_heads(url, chain_id=8453) as subscription,
    ):
        assert sent_heads.wait(5)
        assert subscription.next_header(timeout=0.2) is None


def test_an_incomplete_block_is_fetched():
    half = {name: value for name, value in BLOCK.items() if name != "logsBloom"}
    with server(half) as url, subscribe_new_heads(url, chain_id=8453) as subscription:
        assert subscription.next_header(timeout=60).hash == NEXT["hash"]


def test_of_several_blocks_the_newest_counts():
    sent_heads = threading.Event()
    with (
        server(BLOCK, NEXT, after=lambda _: sent_heads.set()) as url,
        subscribe_new_heads(url, chain_id=8453) as subscription,
    ):
        assert sent_heads.wait(5)
        blocks = []
        while not blocks or blocks[-1] != NEXT["hash"]:
            blocks.append(subscription.next_header(timeout=60).hash)
        assert len(blocks) <= 2


def test_a_node_sends_its_new_heads(own_launchpad: Launchpad, chains_file):
    url = own_launchpad.deployment.rpc_url
    chain = Chain(info=load_registry(chains_file).chain(CHAIN_ID), rpc=RpcClient(chain_id=CHAIN_ID, urls=(url,)))
    with subscribe_new_heads(url.replace("http", "ws"), chain_id=CHAIN_ID) as subscription:
        for _ in range(3):
            own_launchpad.mine()
            assert subscription.next_header(timeout=60) == chain.read_newest_header()
        own_launchpad.launch()
        assert subscription.next_header(timeout=60) == chain.read_newest_header()
