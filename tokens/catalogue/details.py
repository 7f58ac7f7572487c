"""What is told about one token beside its record: its deployer, and its links by name."""

from typing import Any

from accounts.profiles import social_refresh
from tokens.catalogue.records import Record
from tokens.indexing.metadata import find_link
from tokens.models import Token


def add_details(record: Record) -> Record:
    """The record with its deployer, the deployer's verified address and the links; unknown parts are null."""
    fid, wallet = record["requestor_fid"], record["requestor_address"] or record["msg_sender"]
    user: dict[str, Any] = social_refresh.users_by_fid([fid]).get(fid, {}) if fid is not None else {}
    verified = (address for address in user.get("verifiedAddresses", ()) if address.startswith("0x"))
    metadata = record["metadata"]
    return record | {
        "farcasterVerifiedEthAddress": next(verified, None),
        "deployer": {
            "fid": fid,
            "username": user.get("username"),
            "displayName": user.get("displayName"),
            "pfpUrl": user.get("pfpUrl"),
            "address": wallet,
            "tokensDeployed": Token.objects.deployed_with(record["id"], fid=fid, wallet=wallet).count(),
        },
        "twitterUrl": find_link(metadata, "x", "twitter"),
        "websiteUrl": find_link(metadata, "website", "web"),
        "farcasterUrl": find_link(metadata, "farcaster", "warpcast"),
        "telegramUrl": find_link(metadata, "telegram"),
    }
