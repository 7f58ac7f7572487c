"""Events about agents, as partners report them."""

from typing import Any

AT = "2026-02-07T12:00:00Z"
CAST = "0x" + "aB" * 20
MESSAGE = "0x" + "cd" * 20
WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
MINT = "So11111111111111111111111111111111111111112"
TX = "0x" + "Ef" * 32


def agent(id: str = "a", **parts: Any) -> dict[str, Any]:
    return {"id": id, "type": "agent", "at": AT, "agentId": "one", **parts}


def run(id: str = "r", **parts: Any) -> dict[str, Any]:
    times = {"startedAt": AT, "finishedAt": "2026-02-07T12:00:05.250Z"}
    return {"id": id, "type": "run", "agentId": "one", **times, "succeeded": True, **parts}


def action(id: str = "c", **parts: Any) -> dict[str, Any]:
    return {"id": id, "type": "action", "at": AT, "agentId": "one", "kind": "post", "castHash": CAST, **parts}


def like(id: str = "l", **parts: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "interaction",
        "at": AT,
        "agentId": "one",
        "kind": "like",
        "castHash": CAST,
        "actorFid": 8,
        **parts,
    }


def reply(id: str = "y", **parts: Any) -> dict[str, Any]:
    return like(id, **{"kind": "reply", "messageHash": MESSAGE, **parts})


def trade(id: str = "t", **parts: Any) -> dict[str, Any]:
    of_chain = {"txHash": TX, "logIndex": 0, "wallet": WALLET.lower(), "side": "buy", "amount": "1000000000000000000"}
    return {"id": id, "type": "trade", "at": AT, "agentId": "one", **of_chain, **parts}


def score(id: str = "s", **parts: Any) -> dict[str, Any]:
    return {"id": id, "type": "score", "at": AT, "fid": 8, "score": 0.75, **parts}


def one_of_each() -> list[dict[str, Any]]:
    return [agent(), run(), action(), like(), reply(), trade(), score()]
