"""Responses about the registry's contracts."""

from typing import Annotated, NotRequired, TypedDict

from config.parsing.response_types import Keywords
from tokens.chains.addresses import AddressOrMint
from tokens.chains.registry.entry_rules import ROLES, SOLANA_ROLES


class ContractEventsShape(TypedDict):
    """Topics of a contract's events."""

    tokenCreated: NotRequired[Annotated[str, "Only for a generation's factories: topic0 of their launches."]]
    launches: NotRequired[Annotated[list[str], "Only for factories: topic0 of each launch event."]]


class ContractJson(TypedDict):
    """A launchpad's contract; on Solana an account."""

    name: Annotated[str, "Type and role, for display."]
    chainId: int
    chain: Annotated[str, "Name of the chain."]
    indexed: Annotated[bool, "Whether this service reads the chain for this launchpad."]
    address: AddressOrMint
    role: Annotated[str, Keywords(enum=[*ROLES, *SOLANA_ROLES])]
    launchpad: Annotated[str | None, "Its name; null where several generations share it."]
    launchpadTitle: str | None
    generation: Annotated[str | None, "Null if several generations share it, and for declared launchpads."]
    version: Annotated[str | None, "The launchpad's number for the generation."]
    type: Annotated[str | None, "The `type` of tokens that it launches."]
    events: ContractEventsShape
