"""The actions, each with the fields of its body and the sentence about it."""

from collections.abc import Mapping

from config.parsing.json_rules import FieldRule, list_of
from tokens.deploying.launch_request import UNSIGNED_LAUNCH_KEYS
from tokens.deploying.rules import token_texts
from tokens.transactions import call_building, field_rules
from tokens.transactions.call_building import Action
from tokens.transactions.unsigned_launches import LAUNCH, launch_calls

_OPTIONAL_AMOUNT = FieldRule(
    rule=field_rules.wei(least=1), default=None, description="Smallest units, as a text of digits."
)
_WEI = {"amount": FieldRule(rule=field_rules.wei(least=1), description="Wei, as a text of digits.")}


def _token(name: str, description: str, fields: Mapping[str, FieldRule] | None = None) -> Action:
    fields = {**field_rules.TOKEN_ADDRESS, **(fields or {})}
    return Action(name=name, description=description, fields=fields, build=call_building.token_calls)


def _presale(
    name: str, description: str, fields: Mapping[str, FieldRule] | None = None, *, creates_token: bool = False
) -> Action:
    fields = {**field_rules.PRESALE_ID, **(fields or {})}
    return Action(
        name=name,
        description=description,
        fields=fields,
        build=call_building.presale_calls,
        creates_token=creates_token,
    )


_ACTIONS = (
    Action(
        name=LAUNCH,
        description="Prepare the launch of a token by your own wallet.\n\nThe body is that of `deployToken` without"
        " `dryRun`, and so are the rules and the bytes. Your wallet pays gas and dev buy; no quota counts. A repeated"
        " `requestKey` gives the same token address: only one of the transactions can succeed. Entries of an airdrop"
        " are not stored: save them with `saveAirdrop`, so that their proofs are served.",
        fields={name: key for name, key in UNSIGNED_LAUNCH_KEYS.items() if name != "chainId"},
        build=launch_calls,
        creates_token=True,
    ),
    Action(
        name="collect-rewards",
        description="Prepare the collection of pool fees, a call for each token.\n\nAny wallet may collect. Up to"
        " v3.1 the recipients are paid; in v4 the fees go to the fee locker, for `claim-fees`.",
        fields={
            "tokenAddresses": FieldRule(
                rule=list_of(field_rules.address, least=1, most=field_rules.MAX_TOKENS),
                attribute="tokens",
                description="Launched tokens.",
            )
        },
        build=call_building.reward_collections,
    ),
    Action(
        name="claim-fees",
        description="Prepare the claim of v4 fees from the fee locker, a call for each currency.\n\nAny wallet may"
        " claim for an owner, who is paid. The pool fees of `tokenAddresses` are collected first, in the same list. A"
        " currency without fees to claim is 400.",
        fields={
            "currencies": field_rules.CURRENCIES,
            "tokenAddresses": FieldRule(
                rule=list_of(field_rules.address, most=field_rules.MAX_TOKENS),
                attribute="tokens",
                default=(),
                description="Launched tokens whose pool fees are collected first.",
            ),
            "feeOwner": FieldRule(
                rule=field_rules.address, default=None, description="Account that is paid. Default: `from`."
            ),
        },
        build=call_building.fee_claims,
    ),
    _token(
        "claim-vault",
        "Prepare the claim of the unlocked part of a vault.\n\nIn v4 any wallet may claim for the vault's admin, who"
        " is paid everything that is unlocked. In v3.1 only the admin may, and names amount and recipient.",
        {"amount": _OPTIONAL_AMOUNT, **field_rules.RECIPIENT},
    ),
    _token(
        "update-vault-admin",
        "Prepare a new admin of a token's vault, who is paid from then on. Only the admin may set it.",
        field_rules.NEW_ADMIN,
    ),
    Action(
        name="claim-airdrop",
        description="Prepare the claim of an airdrop's entry, with its proof.\n\nAny wallet may claim for an account,"
        " which is paid. The proof is that of `getAirdropProofs`; for entries that this service has not, give `amount`"
        " and `proof`.",
        fields={
            **field_rules.TOKEN_ADDRESS,
            "account": FieldRule(
                rule=field_rules.address, default=None, description="Account of the entry. Default: `from`."
            ),
            "amount": FieldRule(
                rule=field_rules.wei(least=1), default=None, description="The entry's whole amount in wei, as digits."
            ),
            "proof": FieldRule(
                rule=list_of(field_rules.bytes32, most=64), default=None, description="Hashes from the leaf up."
            ),
        },
        build=call_building.airdrop_claim,
    ),
    _token(
        "update-airdrop-admin",
        "Prepare a new admin of a token's airdrop. Only the admin may set it.",
        field_rules.NEW_ADMIN,
    ),
    _token(
        "update-airdrop-root",
        "Prepare another Merkle root of a token's airdrop. Only the admin may set it, and only before the first claim.",
        field_rules.MERKLE_ROOT,
    ),
    _token(
        "reclaim-airdrop",
        "Prepare the payment of an airdrop's unclaimed rest. Only the admin may request it, after the claims' end.",
        field_rules.RECIPIENT,
    ),
    _token(
        "update-image",
        "Prepare a new image of a token. Only the token's admin may set it.",
        {"image": FieldRule(rule=token_texts.image)},
    ),
    Action(
        name="update-metadata",
        description="Prepare new metadata of a token, which replaces all former metadata.\n\nOnly the token's admin"
        " may set it. It is written as a launch writes it.",
        fields={**field_rules.TOKEN_ADDRESS, **token_texts.METADATA},
        build=call_building.metadata_update,
    ),
    _token(
        "update-admin",
        "Prepare a new admin of a v4 token, who may change image and metadata. Only the admin may set it.",
        field_rules.NEW_ADMIN,
    ),
    _token("verify", "Prepare the verification of a token by its first admin, once."),
    _token(
        "update-reward-recipient",
        "Prepare a new recipient of a share of a token's fees.\n\nOnly the share's admin may set it. In v3.1 index 0"
        " is the creator's share, and 1 the interface's.",
        {**field_rules.REWARD_INDEX, "newRecipient": FieldRule(rule=field_rules.address)},
    ),
    _token(
        "update-reward-admin",
        "Prepare a new admin of a share of a token's fees.\n\nOnly the share's admin may set it. In v3.1 index 0 is"
        " the creator's share, and 1 the interface's.",
        {**field_rules.REWARD_INDEX, **field_rules.NEW_ADMIN},
    ),
    Action(
        name="update-fee-preference",
        description="Prepare another currency for a share of a v4 token's fees. Only the share's admin may set it.",
        fields={**field_rules.TOKEN_ADDRESS, **field_rules.REWARD_INDEX, **field_rules.REWARDS_TOKEN},
        build=call_building.preference_update,
    ),
    Action(
        name="presale-buy",
        description="Prepare a purchase in a presale.\n\nThe contract returns what is above the presale's goal. The"
        " proof for an allow-list is that of `getPresaleAllowlistProof`; for one that this service has not, give"
        " `proof`.",
        fields={
            **field_rules.PRESALE_ID,
            **_WEI,
            "proof": FieldRule(
                rule=field_rules.proof_bytes,
                default=None,
                description="Amount and hashes as ABI-encoded bytes. Default: the stored one, else none.",
            ),
        },
        build=call_building.presale_purchase,
    ),
    _presale("presale-claim", "Prepare the claim of the unlocked tokens that `from` bought in a presale."),
    _presale(
        "presale-withdraw",
        "Prepare the withdrawal of a payment from a presale that is active or has failed.",
        {**_WEI, **field_rules.RECIPIENT},
    ),
    _presale(
        "presale-end",
        "Prepare the end of a presale, which launches its token.\n\nThe owner may end it once its lower goal is"
        " reached, any wallet a day after its time. Without a launch in time the call lets the presale fail, and"
        " `predictedAddress` is null.",
        {
            "salt": FieldRule(
                rule=field_rules.bytes32, description="Of your choice: it decides the token's address by CREATE2."
            )
        },
        creates_token=True,
    ),
    _presale(
        "presale-collect",
        "Prepare the payment of what a presale raised, less the launchpad's fee. Only its owner may request it.",
        field_rules.RECIPIENT,
    ),
    _presale(
        "update-allowlist-root",
        "Prepare another Merkle root of a presale's allow-list. Only the presale's owner may set it.",
        field_rules.MERKLE_ROOT,
    ),
    _presale(
        "update-allowlist-buyer",
        "Prepare a buyer's own limit in a presale, without a proof. Only the presale's owner may set it.",
        {
            "buyer": FieldRule(rule=field_rules.address),
            "amount": FieldRule(
                rule=field_rules.wei(least=0), description="Wei, as a text of digits; 0 removes the limit."
            ),
        },
    ),
    _presale(
        "update-allowlist-state",
        "Prepare whether only a presale's allow-list may buy. Only the presale's owner may set it.",
        field_rules.ENABLED,
    ),
)
ACTIONS = {action.name: action for action in _ACTIONS}
