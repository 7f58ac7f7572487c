"""Mistakes in a declared event that one transaction's logs show: topic, `indexed`, length, emitter. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from sha3 import keccak_256

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.abi.layouts import MalformedDataError
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import LogDecodingError

_WORD_DIGITS = 64
_SIZES = [str(bits) for bits in range(8, 257, 8)]
_PLAIN = ["address", "bool", "string", "bytes", "bytes32", "bytes4", "bytes20"]
_TYPES = [*_PLAIN, *(f"{kind}{size}" for kind in ("uint", "int") for size in _SIZES)]
_LEAF = re.compile(r"[a-z][a-z0-9]*(\[\])?")


def words_of(log: Log) -> int:
    """Return how many whole 32-byte words a log's data has."""
    return len(log["data"][2:]) // _WORD_DIGITS


def log_text(log: Log) -> str:
    """Return a log's place and form in words."""
    topics = log["topics"]
    topic0 = f"topic0 {topics[0]}, " if topics else ""
    emitter = checksum_address(log["address"])
    return f"log {int(log['logIndex'], 16)} of {emitter}: {topic0}{len(topics)} topics, {words_of(log)} words of data"


def find_layout_mistake(event: AbiEvent, log: Log) -> str:
    """Return why a log with the event's topic0 differs from the declaration; empty if it does not."""
    indexed, subject = len(log["topics"]) - 1, f"{event.signature}: log {int(log['logIndex'], 16)}"
    if indexed != event.indexed:
        return (
            f"{subject} has {indexed} indexed arguments ({indexed + 1} topics, {words_of(log)} words of data), and the"
            f" declaration marks {event.indexed}: correct `indexed`"
        )
    types = event.layout.types[event.indexed :]
    try:
        event.decode(log)
        data = bytes.fromhex(log["data"][2:])
        length = len(codec.encode_values(types, codec.decode_values(types, data)))
    except (LogDecodingError, MalformedDataError):
        least = sum(map(_least_words, types))
        shorter = f" and is shorter than the {least} words that it needs" if words_of(log) < least else ""
        return (
            f"{subject} has {words_of(log)} words of data, which the declaration does not decode{shorter}: other"
            " arguments are indexed, or the source is of another version than the contract"
        )
    if len(data) > length:
        return (
            f"{subject} has {words_of(log)} words of data, and the declaration decodes {length // 32}: the source is of"
            " another version than the contract"
        )
    return ""


def find_topic_mistakes(events: Sequence[AbiEvent], contracts: Collection[str], logs: Sequence[Log]) -> Iterator[str]:
    """Yield why no log has a declared event. Call it if the contracts emit no such log."""
    topics = {event.topic0: event for event in events}
    own = {address.lower() for address in contracts}
    by_contracts = [log for log in logs if log["address"].lower() in own and log["topics"]]
    foreign = [
        log for log in logs if log["topics"] and log["topics"][0] in topics and log["address"].lower() not in own
    ]
    for log in foreign:
        event = topics[log["topics"][0]]
        yield (
            f"{event.signature} is emitted by {checksum_address(log['address'])}, which is not among `contracts`"
            f" ({', '.join(contracts)}): add it if it is the launchpad's"
        )
    if foreign:
        return
    declared = "; ".join(f"{event.signature} is {event.topic0}" for event in events)
    if not by_contracts:
        yield f"none of `contracts` ({', '.join(contracts)}) emits a log in this transaction: is it a launch?"
        yield f"no address emits a declared event: {declared}"
        return
    yield f"`contracts` emit {len(by_contracts)} logs, and none is a declared event: {declared}"


def _least_words(kind: str) -> int:
    """Return the fewest words that an ABI type's value may have. A dynamic value has an offset and a length."""
    leaves = [leaf[0] for leaf in _LEAF.finditer(kind)]
    dynamic = [leaf for leaf in leaves if leaf in ("string", "bytes") or leaf.endswith("[]")]
    if kind.endswith("[]"):
        return 2
    return len(leaves) + len(dynamic) + (kind.startswith("(") and bool(dynamic))


def find_similar_events(events: Iterable[AbiEvent]) -> dict[str, str]:
    """Return topic0 -> the event in words, for events that differ from a declared one in one place."""
    similar: dict[str, str] = {}
    for event in events:
        for kind, signature in _variants(event.signature):
            if signature == event.signature:
                continue
            text = f"that topic0 is {signature}, and the declaration has {event.signature}: {kind}"
            similar.setdefault(_topic(signature), text)
    return similar


def _variants(signature: str) -> Iterator[tuple[str, str]]:
    """Yield signatures that differ in one place, each with the mistake in words."""
    name, _, rest = signature.partition("(")
    arguments = f"({rest}"
    leaves = list(_LEAF.finditer(arguments))
    for leaf in leaves:
        head, tail = arguments[: leaf.start()], arguments[leaf.end() :]
        for kind in _TYPES:
            for text in (kind, f"{kind}[]"):
                yield f"the type {leaf[0]} is {text} in the contract", f"{name}{head}{text}{tail}"
    newer, older = (f"the source is {age} than the contract" for age in ("newer", "older"))
    for leaf in leaves:
        shorter = _without_empty(arguments[: leaf.start()] + arguments[leaf.end() :])
        yield f"{newer}, which lacks an argument {leaf[0]}", name + shorter
    for offset in [*(leaf.start() for leaf in leaves), len(arguments) - 1]:
        head, tail = arguments[:offset], arguments[offset:]
        for kind in _TYPES:
            longer = f"{head},{kind}{tail}" if offset == len(arguments) - 1 and leaves else f"{head}{kind},{tail}"
            yield f"{older}, which has a further argument {kind}", name + _without_empty(longer)
    for first, second in zip(leaves, leaves[1:], strict=False):
        between = arguments[first.end() : second.start()]
        swapped = arguments[: first.start()] + second[0] + between + first[0] + arguments[second.end() :]
        yield f"{first[0]} and {second[0]} are exchanged", name + swapped
    yield "the contract has no struct", f"{name}({arguments.replace('(', '').replace(')', '')})"
    for index, first in enumerate(leaves):
        for last in leaves[index:]:
            struct = f"({arguments[first.start() : last.end()]})"
            yield (
                f"the contract has a struct {struct}",
                name + arguments[: first.start()] + struct + arguments[last.end() :],
            )


def _without_empty(arguments: str) -> str:
    for empty, text in ((",,", ","), ("(,", "("), (",)", ")")):
        arguments = arguments.replace(empty, text)
    return arguments


def _topic(signature: str) -> str:
    return f"0x{keccak_256(signature.encode()).hexdigest()}"
