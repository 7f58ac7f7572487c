"""Action table: names, body fields and descriptions."""

from collections.abc import Mapping

from config.parsing.json_rules import FieldRule, list_of
from tokens.deploying.launch_request import UNSIGNED_LAUNCH_KEYS
from tokens.deploying.rules import token_texts
from tokens.transactions import action_fields, call_building
from tokens.transactions.call_building import WalletAction
from tokens.transactions.token_swaps import SWAP, SWAP_FIELDS, swap_offer
from tokens.transactions.unsigned_launches import LAUNCH, launch_calls

_OPTIONAL_AMOUNT = FieldRule(
    rule=action_fields.wei(least=1), default=None, description="Smallest units, as a text of digits."
)
_WEI = {"amount": FieldRule(rule=action_fields.wei(least=1), description="Wei, as a text of digits.")}


def _token(name: str, description: str, fields: Mapping[str, FieldRule] | None = None) -> WalletAction:
    fields = {**action_fields.TOKEN_ADDRESS, **(fields or {})}
    return WalletAction(name=name, description=description, fields=fields, build=call_building.token_calls)


def _presale(
    name: str, description: str, fields: Mapping[str, FieldRule] | None = None, *, creates_token: bool = False
) -> WalletAction:
    fields = {**action_fields.PRESALE_ID, **(fields or {})}
    return WalletAction(
        name=name,
        description=description,
        fields=fields,
        build=call_building.presale_calls,
        creates_token=creates_token,
    )


_ACTIONS = (
    WalletAction(
        name=LAUNCH,
        description="Prepare a launch by your own wallet.\n\nThe body is the one for `deployToken` without `dryRun`,"
        " under the same rules, and gives the same bytes. Your wallet pays gas and dev buy; no quota counts."
        " A repeated `requestKey` gives the same token address: only one transaction can succeed. Airdrop"
        " entries are not stored: save them with `saveAirdrop`, so that their proofs are served.",
        fields=UNSIGNED_LAUNCH_KEYS,
        build=launch_calls,
        creates_token=True,
    ),
    WalletAction(
        name=SWAP,
        description="Prepare a purchase or a sale of a token in its own pool, with a quote.\n\nThe chain's own Uniswap"
        " quoter quotes, hooks included. The calls are simulated in the same block: a difference of one unit is 400. In"
        " a launch's first seconds the sniper fee falls with each second, so that a later block gives more. An ERC-20"
        " is paid through Permit2: approvals that `from` lacks are calls before the swap.",
        fields=SWAP_FIELDS,
        build=swap_offer,
    ),
    WalletAction(
        name="collect-rewards",
        description="Prepare the collection of pool fees, a call for each token.\n\nAny wallet may collect. Up to v3.1"
        " the recipients are paid at once; v4 fees go to the fee locker, for `prepareClaimFees`.",
        fields={
            "tokenAddresses": FieldRule(
                rule=list_of(action_fields.address, least=1, most=action_fields.MAX_TOKENS),
                attribute="tokens",
                description="Launched tokens.",
            )
        },
        build=call_building.reward_collections,
    ),
    WalletAction(
        name="claim-fees",
        description="Prepare the claim of v4 fees from the fee locker, a call for each currency.\n\nAny wallet may"
        " claim for an owner, who is paid. Pool fees for `tokenAddresses` are collected first, in the same list. A"
        " currency without fees to claim is 400.",
        fields={
            "currencies": action_fields.CURRENCIES,
            "tokenAddresses": FieldRule(
                rule=list_of(action_fields.address, most=action_fields.MAX_TOKENS),
                attribute="tokens",
                default=(),
                description="Launched tokens whose pool fees are collected first.",
            ),
            "feeOwner": FieldRule(
                rule=action_fields.address, default=None, description="Account that is paid. Default: `from`."
            ),
        },
        build=call_building.fee_claims,
    ),
    _token(
        "claim-vault",
        "Prepare a claim from a token's vault.\n\nIn v4 any wallet may claim for the vault's admin, who is paid"
        " the whole unlocked amount. In v3.1 only the admin may, and names amount and recipient.",
        {"amount": _OPTIONAL_AMOUNT, **action_fields.RECIPIENT},
    ),
    _token(
        "update-vault-admin",
        "Prepare a new vault admin, who is paid from then on. Only the admin may set it.",
        action_fields.NEW_ADMIN,
    ),
    WalletAction(
        name="claim-airdrop",
        description="Prepare the claim of an airdrop entry, with its proof.\n\nAny wallet may claim for an account,"
        " which is paid. The proof is the one from `getAirdropProofs`. For entries that this service lacks, give"
        " `amount` and `proof`.",
        fields={
            **action_fields.TOKEN_ADDRESS,
            "account": FieldRule(
                rule=action_fields.address, default=None, description="Account of the entry. Default: `from`."
            ),
            "amount": FieldRule(
                rule=action_fields.wei(least=1), default=None, description="The entry's whole amount in wei, as digits."
            ),
            "proof": FieldRule(
                rule=list_of(action_fields.bytes32, most=64), default=None, description="Hashes from the leaf up."
            ),
        },
        build=call_building.airdrop_claim,
    ),
    _token(
        "update-airdrop-admin",
        "Prepare a new airdrop admin. Only the admin may set it.",
        action_fields.NEW_ADMIN,
    ),
    _token(
        "update-airdrop-root",
        "Prepare a new Merkle root for an airdrop. Only its admin may set it, and only before the first claim.",
        action_fields.MERKLE_ROOT,
    ),
    _token(
        "reclaim-airdrop",
        "Prepare the payment of an airdrop's unclaimed rest. Only its admin may request it, after the claims' end.",
        action_fields.RECIPIENT,
    ),
    _token(
        "update-image",
        "Prepare a new token image. Only the token's admin may set it.",
        {"image": FieldRule(rule=token_texts.image)},
    ),
    WalletAction(
        name="update-metadata",
        description="Prepare new token metadata, which replaces all former metadata.\n\nOnly the token's admin may set"
        " it. The bytes have the form that launches write.",
        fields={**action_fields.TOKEN_ADDRESS, **token_texts.METADATA},
        build=call_building.metadata_update,
    ),
    _token(
        "update-admin",
        "Prepare a new admin for a v4 token, who may change image and metadata. Only the admin may set it.",
        action_fields.NEW_ADMIN,
    ),
    _token("verify", "Prepare a token's verification by its first admin, once."),
    _token(
        "update-reward-recipient",
        "Prepare a new recipient for a token's fee share.\n\nOnly the share's admin may set it. In v3.1 index 0"
        " is the creator's share, and 1 the interface's.",
        {**action_fields.REWARD_INDEX, "newRecipient": FieldRule(rule=action_fields.address)},
    ),
    _token(
        "update-reward-admin",
        "Prepare a new admin for a token's fee share.\n\nOnly the share's admin may set it. In v3.1 index 0 is"
        " the creator's share, and 1 the interface's.",
        {**action_fields.REWARD_INDEX, **action_fields.NEW_ADMIN},
    ),
    WalletAction(
        name="update-fee-preference",
        description="Prepare another currency for a v4 token's fee share. Only the share's admin may set it.",
        fields={**action_fields.TOKEN_ADDRESS, **action_fields.REWARD_INDEX, **action_fields.REWARDS_TOKEN},
        build=call_building.preference_update,
    ),
    WalletAction(
        name="presale-buy",
        description="Prepare a purchase in a presale.\n\nThe contract returns what exceeds the presale's goal. The"
        " proof for an allow-list is the one from `getPresaleAllowlistProof`. For lists that this service lacks,"
        " give `proof`.",
        fields={
            **action_fields.PRESALE_ID,
            **_WEI,
            "proof": FieldRule(
                rule=action_fields.proof_bytes,
                default=None,
                description="Amount and hashes as ABI-encoded bytes. Default: the stored one, else none.",
            ),
        },
        build=call_building.presale_purchase,
    ),
    _presale("presale-claim", "Prepare the claim of the unlocked tokens that `from` bought in a presale."),
    _presale(
        "presale-withdraw",
        "Prepare a withdrawal from a presale that is active or has failed.",
        {**_WEI, **action_fields.RECIPIENT},
    ),
    _presale(
        "presale-end",
        "Prepare a presale's end, which launches its token.\n\nThe owner may end it once its lower goal is"
        " reached, any wallet a day after its time. Without a launch in time the call lets the presale fail, and"
        " `predictedAddress` is null.",
        {
            "salt": FieldRule(
                rule=action_fields.bytes32, description="Of your choice: it decides the token's address by CREATE2."
            )
        },
        creates_token=True,
    ),
    _presale(
        "presale-collect",
        "Prepare the payment of what a presale raised, less the launchpad's fee. Only its owner may request it.",
        action_fields.RECIPIENT,
    ),
    _presale(
        "update-allowlist-root",
        "Prepare a new Merkle root for a presale's allow-list. Only the presale's owner may set it.",
        action_fields.MERKLE_ROOT,
    ),
    _presale(
        "update-allowlist-buyer",
        "Prepare a buyer's own limit in a presale, without a proof. Only the presale's owner may set it.",
        {
            "buyer": FieldRule(rule=action_fields.address),
            "amount": FieldRule(
                rule=action_fields.wei(least=0), description="Wei, as a text of digits; 0 removes the limit."
            ),
        },
    ),
    _presale(
        "update-allowlist-state",
        "Prepare whether only a presale's allow-list may buy. Only the presale's owner may set it.",
        action_fields.ENABLED,
    ),
)
ACTIONS = {action.name: action for action in _ACTIONS}
