"""A transaction's launches and fee claims, decoded from its instructions and its mints' accounts. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from tokens.chains.abi.layouts import clean_text
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError
from tokens.chains.registry.chains import ChainInfo, Contract
from tokens.chains.solana import bonding_curve
from tokens.chains.solana.token_accounts import MintDescription, MintState, read_created_mint
from tokens.chains.solana.transaction_forms import SolanaTransaction
from tokens.chains.types import Launch, Pool, PoolClaim, TransactionFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodedLaunch:
    """A launchpad's pool, with the program that created it."""

    program: Contract
    pool: bonding_curve.CreatedPool


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodedTransaction:
    """A transaction with its launches and claims in instruction order; either may be empty, but not both."""

    transaction: SolanaTransaction
    launches: tuple[DecodedLaunch, ...]
    claims: tuple[PoolClaim, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class MintInfo:
    """A mint's current state and description; None if its account, or its description, no longer exists."""

    state: MintState | None
    description: MintDescription | None


def decode_launches(chain: ChainInfo, transaction: SolanaTransaction) -> DecodedTransaction:
    """Decode a transaction's launches and claims through the registry's programs.

    A launch counts if the registry lists its config (`launch_config`), or its creator or payer (`launch_creator`).
    Raises LaunchNotFoundError, LogDecodingError.
    """
    if transaction.failed:
        raise LaunchNotFoundError("the transaction failed")
    launchpad = bonding_curve.LaunchpadAccounts(
        configs=frozenset(chain.addresses("launch_config")),
        creators=frozenset(chain.addresses("launch_creator")),
    )
    launches, claims = [], []
    for contract in chain.contracts.values():
        if contract.role == "launch_program":
            pools = bonding_curve.read_pools(transaction.instructions, program=contract.address, launchpad=launchpad)
            launches += [DecodedLaunch(program=contract, pool=pool) for pool in pools]
            paid = bonding_curve.read_claims(transaction.instructions, program=contract.address)
            claims += [_claim(contract, fees) for fees in paid]
    if not launches and not claims:
        raise LaunchNotFoundError(
            "the transaction holds neither a launch of a known config or creator nor a claim of fees"
        )
    return DecodedTransaction(
        transaction=transaction,
        launches=tuple(sorted(launches, key=lambda launch: launch.pool.index)),
        claims=tuple(sorted(claims, key=lambda claim: claim.log_index)),
    )


def build_facts(chain: ChainInfo, decoded: DecodedTransaction, *, mints: Mapping[str, MintInfo]) -> TransactionFacts:
    """Build a transaction's facts from its launches and claims, and from the launched mints and quote mints.

    Raises LogDecodingError.
    """
    transaction = decoded.transaction
    return TransactionFacts(
        tx_hash=transaction.signature,
        block_number=transaction.slot,
        block_hash="",
        block_time=transaction.block_time or 0,
        launches=tuple(_launch(chain, transaction, launch, mints=mints) for launch in decoded.launches),
        event_logs=(),
        pool_claims=decoded.claims,
        final=True,
    )


def _claim(contract: Contract, fees: bonding_curve.ClaimedPoolFees) -> PoolClaim:
    return PoolClaim(
        program=contract.address,
        pool=fees.pool,
        log_index=fees.index,
        paid_to=fees.paid_to,
        claimer=fees.claimer,
        amounts={fees.base_mint: fees.base_amount, fees.quote_mint: fees.quote_amount},
    )


def _launch(
    chain: ChainInfo, transaction: SolanaTransaction, launch: DecodedLaunch, *, mints: Mapping[str, MintInfo]
) -> Launch:
    pool, generation = launch.pool, launch.program.generation
    info = mints[pool.base_mint]
    description = info.description or _described(pool)
    # The mint may be closed by now; the transaction that created it still has its decimals and supply.
    state = info.state or read_created_mint(transaction.instructions, mint=pool.base_mint)
    if state is None or generation is None:
        raise LogDecodingError("the decimals and supply of a launch's mint are unknown")
    return Launch(
        chain_id=chain.chain_id,
        generation=generation.name,
        token=pool.base_mint,
        tx_hash=transaction.signature,
        log_index=pool.index,
        block_number=transaction.slot,
        block_hash="",
        block_time=transaction.block_time or 0,
        factory=launch.program.address,
        name=description.name,
        symbol=description.symbol,
        supply=state.supply,
        decimals=state.decimals,
        uri=description.uri or None,
        admin=pool.creator,
        msg_sender=transaction.signers[0],
        requestor_address=pool.creator,
        pool=_pool(chain, pool, mints=mints),
        curve_config=pool.config,
    )


def _described(pool: bonding_curve.CreatedPool) -> MintDescription:
    """Return the description in the launch itself; the mint's accounts may have been updated since."""
    name, symbol, uri = (clean_text(text.encode()) for text in (pool.name, pool.symbol, pool.uri))
    return MintDescription(name=name, symbol=symbol, uri=uri)


def _pool(chain: ChainInfo, pool: bonding_curve.CreatedPool, *, mints: Mapping[str, MintInfo]) -> Pool:
    quote, info = chain.quote_tokens.get(pool.quote_mint), mints.get(pool.quote_mint)
    symbol = info.description.symbol if info and info.description else None
    decimals = info.state.decimals if info and info.state else None
    return Pool(
        address=pool.pool,
        paired_token=pool.quote_mint,
        pair_symbol=quote.symbol if quote else symbol or None,
        pair_decimals=quote.decimals if quote else decimals,
        tick=None,
        tick_spacing=None,
        hook=None,
    )
