"""What a transaction of Solana holds for us, out of the transaction and the accounts of its mints. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from tokens.chains.abi.layouts import clean_text
from tokens.chains.registry.chains import ChainInfo, Contract
from tokens.chains.solana import bonding_curve
from tokens.chains.solana.token_accounts import Description, MintState, read_minted
from tokens.chains.solana.transaction_forms import SolanaTransaction
from tokens.chains.types import Launch, LaunchNotFound, LogUndecodable, Pool, PoolClaim, TransactionFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeLaunch:
    """A pool of ours, by the program that made it."""

    program: Contract
    pool: bonding_curve.MadePool


@dataclass(frozen=True, kw_only=True, slots=True)
class Decoded:
    """A transaction with what it holds for us, at least one of either; in the order of its instructions."""

    transaction: SolanaTransaction
    launches: tuple[MadeLaunch, ...]
    claims: tuple[PoolClaim, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownMint:
    """What the nodes tell of a mint now; None where its account, or its description, is gone."""

    state: MintState | None
    description: Description | None


def decode(chain: ChainInfo, transaction: SolanaTransaction) -> Decoded:
    """The launches and claims of a transaction, by the programs of the registry.

    A launch is ours where the registry names its config (`launch_config`), or who created it or paid for it
    (`launch_creator`). Raises LaunchNotFound, LogUndecodable.
    """
    if transaction.failed:
        raise LaunchNotFound("the transaction was undone")
    launchpad = bonding_curve.Launchpad(
        configs=frozenset(chain.addresses("launch_config")),
        creators=frozenset(chain.addresses("launch_creator")),
    )
    launches, claims = [], []
    for contract in chain.contracts.values():
        if contract.role == "launch_program":
            made = bonding_curve.read_pools(transaction.instructions, program=contract.address, launchpad=launchpad)
            launches += [MadeLaunch(program=contract, pool=pool) for pool in made]
            paid = bonding_curve.read_claims(transaction.instructions, program=contract.address)
            claims += [_claim(contract, fees) for fees in paid]
    if not launches and not claims:
        raise LaunchNotFound("the transaction holds neither a launch of a known config or creator nor a claim of fees")
    return Decoded(
        transaction=transaction,
        launches=tuple(sorted(launches, key=lambda launch: launch.pool.index)),
        claims=tuple(sorted(claims, key=lambda claim: claim.log_index)),
    )


def facts_of(chain: ChainInfo, decoded: Decoded, *, mints: Mapping[str, KnownMint]) -> TransactionFacts:
    """What the transaction holds, with what is known of its launches' mints and of those that they are sold for.

    Raises LogUndecodable.
    """
    transaction = decoded.transaction
    return TransactionFacts(
        tx_hash=transaction.signature,
        block_number=transaction.slot,
        block_hash="",
        block_time=transaction.block_time or 0,
        launches=tuple(_launch(chain, transaction, made, mints=mints) for made in decoded.launches),
        event_logs=(),
        pool_claims=decoded.claims,
        final=True,
    )


def _claim(contract: Contract, fees: bonding_curve.PaidFees) -> PoolClaim:
    return PoolClaim(
        program=contract.address,
        pool=fees.pool,
        log_index=fees.index,
        paid_to=fees.paid_to,
        claimer=fees.claimer,
        amounts={fees.base_mint: fees.base_amount, fees.quote_mint: fees.quote_amount},
    )


def _launch(
    chain: ChainInfo, transaction: SolanaTransaction, made: MadeLaunch, *, mints: Mapping[str, KnownMint]
) -> Launch:
    pool, generation = made.pool, made.program.generation
    known = mints[pool.base_mint]
    description = known.description or _described(pool)
    # The mint may be gone, and the transaction that made it is not.
    state = known.state or read_minted(transaction.instructions, mint=pool.base_mint)
    if state is None or generation is None:
        raise LogUndecodable("nothing tells of the mint of a launch")
    return Launch(
        chain_id=chain.chain_id,
        generation=generation.name,
        token=pool.base_mint,
        tx_hash=transaction.signature,
        log_index=pool.index,
        block_number=transaction.slot,
        block_hash="",
        block_time=transaction.block_time or 0,
        factory=made.program.address,
        name=description.name,
        symbol=description.symbol,
        supply=state.supply,
        decimals=state.decimals,
        uri=description.uri or None,
        admin=pool.creator,
        msg_sender=transaction.signers[0],
        requestor_address=pool.creator,
        pool=_pool(chain, pool, mints=mints),
    )


def _described(pool: bonding_curve.MadePool) -> Description:
    """What the launch itself says; the accounts may have been changed by those who may since."""
    name, symbol, uri = (clean_text(text.encode()) for text in (pool.name, pool.symbol, pool.uri))
    return Description(name=name, symbol=symbol, uri=uri)


def _pool(chain: ChainInfo, pool: bonding_curve.MadePool, *, mints: Mapping[str, KnownMint]) -> Pool:
    quote, known = chain.quote_tokens.get(pool.quote_mint), mints.get(pool.quote_mint)
    symbol = known.description.symbol if known and known.description else None
    decimals = known.state.decimals if known and known.state else None
    return Pool(
        address=pool.pool,
        paired_token=pool.quote_mint,
        pair_symbol=quote.symbol if quote else symbol or None,
        pair_decimals=quote.decimals if quote else decimals,
        tick=None,
        tick_spacing=None,
        hook=None,
    )
