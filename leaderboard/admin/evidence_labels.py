"""Plain words for what detectors name shortly, as docs/leaderboard.md explains it at length."""

import re

# What a flag means.
FLAGS = {
    "CONCENTRATED": "Few accounts make most of the interactions, or accounts that interact with this agent alone do.",
    "RECIPROCAL_RING": "Agents or their makers interact with each other in a circle, or the same accounts come back to "
    "a group of agents and to hardly anybody else.",
    "BURST_TIMING": "Interactions come as programs make them: sooner after the cast than people's, always after the "
    "same time, or many at once and few before and after.",
    "LOW_SCORE_AUDIENCE": "The accounts have low social scores, are new, or were registered one after another.",
    "DUPLICATE_TEXT": "Different accounts say the same to this agent, and not to others.",
    "EARLIER": "The ranking of the week found more than the day's: its wash confidence and flags hold, which were "
    "raised by what stands there.",
    "INSUFFICIENT_DATA": "Too little is known to judge by: most interactions are from accounts of unknown score.",
    "SELF_TRADE": "The agent's own wallets, or others in league with them, buy and sell its token back and forth.",
}

# What is measured for a flag, out of the figures and lists beside it.
SIGNS = {
    "shortfall": "how far the audience is from as many accounts as are usual: 1 − (accounts that would interact as "
    "much if all did alike: interactions², by the sum of each account's²) ÷ (interactions of a week, to the usual "
    "power); times interactions of a week ÷ (the same and the small-number allowance)",
    "devoted": "interactions of accounts that interact with hardly anybody else ÷ (all and the small-number allowance)",
    "members": "interactions of the ring's members, and its own with its casts ÷ (all, its own and the small-number "
    "allowance)",
    "feeders": "interactions of accounts that feed the ring alone ÷ (all and the small-number allowance)",
    "clockwork": "interactions of accounts that are too quick or too regular, less those of the busiest of them, for "
    "one honest program ÷ all",
    "bursts": "interactions within bursts ÷ (all that are counted and the small-number allowance)",
    "low": "interactions of accounts with a low score ÷ (those whose score is known and the small-number allowance)",
    "newborn": "interactions of new accounts ÷ (all and the small-number allowance)",
    "batch": "interactions of accounts that were registered one after another ÷ (all and the small-number allowance)",
    "copied": "for each text, accounts that say it, less the first one and what custom allows; summed up ÷ (all texts "
    "and the small-number allowance)",
    "bothSides": "twice the smaller of the own wallets' purchases and sales ÷ (all trades and the small-number "
    "allowance)",
    "matched": "trades of own wallets that another one undoes ÷ (all trades and the small-number allowance)",
    "circles": "trades in circles, less those of the busiest wallet that is not the agent's; 0 where none of its own "
    "is among them ÷ (all trades and the small-number allowance)",
    "strangers": "trades in circles by wallets that are not the agent's ÷ (all trades and the small-number allowance)",
    "roundTrips": "trades of days in which a wallet sold what it had bought ÷ (all trades and the small-number "
    "allowance)",
}

# Figures, lists and columns. Where a name means another thing under a flag, it stands with that flag.
PLAIN = {
    "accounts": "accounts",
    "actors": "accounts that say it",
    "agent": "agent",
    "agents": "agents",
    "agentsInAll": "agents in the ring",
    "among": "interactions among the others",
    "amount": "amount, smallest unit",
    "at": "time, UTC",
    "audience": "accounts that interact",
    "batch": "accounts registered one after another",
    "bursts": "bursts",
    "cast": "cast",
    "casts": "casts that are answered so",
    "circles": "trades in circles",
    "circlingOwn": "trades in circles by the agent's own wallets",
    "clockwork": "accounts that are too quick or too regular",
    "confidence": "wash confidence of the week",
    "copies": "copies",
    "counted": "interactions, each account's once in five minutes",
    "custom": "times as many as are expected is custom still",
    "devoted": "accounts that interact with hardly anybody else",
    "doubt": "small-number allowance",
    "edges": "pairs",
    "expected": "accounts expected to say it",
    "feeders": "accounts that feed the ring alone",
    "fid": "FID",
    "flags": "flags of the week",
    "from": "from, UTC",
    "fromUnknownAccounts": "interactions of accounts of unknown score",
    "gaps": "gaps between interactions",
    "interactions": "interactions",
    "into": "interactions of members with this agent",
    "key": "text (its digest)",
    "knownInteractions": "interactions of accounts whose score is known",
    "listed": "the largest",
    "low": "accounts with a low score",
    "lowScore": "scores under this are low",
    "matched": "trades of own wallets that another one undoes",
    "members": "the ring",
    "most": "more than this share of interactions is too much",
    "newborn": "new accounts",
    "newbornSeconds": "accounts are new for so many seconds",
    "others": "the rest",
    "own": "trades of the agent's own wallets",
    "ownBuys": "purchases by own wallets",
    "ownSells": "sales by own wallets",
    "registeredAt": "registered, UTC",
    "roundTrips": "trades of days in which a wallet sold what it had bought",
    "said": "replies and quotes that say it",
    "score": "social score",
    "sharedWith": "agents with the same feeders",
    "shortfall": "how far from as many accounts as are usual",
    "side": "side",
    "spared": "times the busiest account is taken off, for one honest program",
    "squares": "sum of each account's interactions²",
    "strength": "strength, that of the strongest sign, from 0 to 1",
    "texts": "texts",
    "to": "to, UTC",
    "trades": "trades",
    "transactions": "transactions",
    "typicalDelaySeconds": "usual seconds after the cast",
    "uses": "times said",
    "usualDelaySeconds": "seconds after the cast that are usual",
    "usualPower": "usual power: as many accounts are usual as interactions of a week, to this power",
    "wallet": "wallet",
    "weeks": "weeks, at least 1",
    "weight": "wash confidence at full strength, by this flag alone",
}
_OF_FLAG = {
    ("RECIPROCAL_RING", "own"): "likes, recasts and quotes of its own casts",
    ("SELF_TRADE", "spared"): "trades in circles by the busiest wallet that is not the agent's",
}


def words(flag: str, name: str) -> str:
    """What a figure, list or column of a flag's evidence is called on a page."""
    return _OF_FLAG.get((flag, name)) or PLAIN.get(name) or spaced(name)


def spaced(name: str) -> str:
    """`typicalDelaySeconds` -> typical delay seconds; names of flags and signs as well."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("_", " ")).lower()
