// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IHook, IPoolManager, PoolKey, Unauthorized} from "./Interfaces.sol";

/// Creates launch pools. The hooks of the real chains also watch swaps and have permission bits in their addresses
/// (they end in 28CC); these only create pools, so their addresses carry no bits.
abstract contract Hook is IHook {
    /// What poolData holds. `extension` is an optional watcher of the pool; none is allowed on the development chain.
    struct PoolInitializationData {
        address extension;
        bytes extensionData;
        bytes feeData;
    }

    event PoolCreatedFactory(
        address indexed pairedToken,
        address indexed clanker,
        bytes32 poolId,
        int24 tickIfToken0IsClanker,
        int24 tickSpacing,
        address locker,
        address mevModule
    );
    event PoolCreatedOpen(
        address indexed pairedToken,
        address indexed clanker,
        bytes32 poolId,
        int24 tickIfToken0IsClanker,
        int24 tickSpacing
    );
    event PoolExtensionRegistered(bytes32 indexed poolId, address indexed extension);

    error PoolExtensionNotEnabled();

    /// Uniswap's flag for "the hook sets the fee"; every launch pool has it as its key's fee.
    uint24 public constant DYNAMIC_FEE_FLAG = 0x800000;
    /// 10 %, where 1_000_000 is the whole.
    uint24 public constant MAX_LP_FEE = 100_000;

    address public immutable factory;
    IPoolManager public immutable poolManager;

    constructor(address factory_, IPoolManager poolManager_) {
        factory = factory_;
        poolManager = poolManager_;
    }

    function initializePool(
        address token,
        address pairedToken,
        int24 tickIfToken0IsClanker,
        int24 tickSpacing,
        address locker,
        address mevModule,
        bytes calldata poolData
    ) external returns (PoolKey memory key) {
        if (msg.sender != factory) revert Unauthorized();
        bytes32 id;
        (key, id) = _initialize(token, pairedToken, tickIfToken0IsClanker, tickSpacing);
        PoolInitializationData memory data = abi.decode(poolData, (PoolInitializationData));
        _setFees(id, data.feeData);
        emit PoolCreatedFactory(pairedToken, token, id, tickIfToken0IsClanker, tickSpacing, locker, mevModule);
        _registerExtension(id, data.extension);
    }

    /// Anybody may make a pool on this hook; it is not a launch.
    function initializePoolOpen(
        address token,
        address pairedToken,
        int24 tickIfToken0IsClanker,
        int24 tickSpacing,
        bytes calldata poolData
    ) external returns (PoolKey memory key) {
        bytes32 id;
        (key, id) = _initialize(token, pairedToken, tickIfToken0IsClanker, tickSpacing);
        PoolInitializationData memory data = abi.decode(poolData, (PoolInitializationData));
        _setFees(id, data.feeData);
        emit PoolCreatedOpen(pairedToken, token, id, tickIfToken0IsClanker, tickSpacing);
        _registerExtension(id, data.extension);
    }

    /// Decodes and checks the fees of a pool, and emits its PoolInitialized.
    function _setFees(bytes32 id, bytes memory feeData) internal virtual;

    /// The tick is given as if the token were currency0; where it is currency1, the pool's tick is the negative.
    function _initialize(address token, address pairedToken, int24 tick, int24 tickSpacing)
        private
        returns (PoolKey memory key, bytes32 id)
    {
        bool first = token < pairedToken;
        key = PoolKey({
            currency0: first ? token : pairedToken,
            currency1: first ? pairedToken : token,
            fee: DYNAMIC_FEE_FLAG,
            tickSpacing: tickSpacing,
            hooks: address(this)
        });
        id = poolManager.initialize(key, first ? tick : -tick);
    }

    function _registerExtension(bytes32 id, address extension) private {
        if (extension != address(0)) revert PoolExtensionNotEnabled();
        emit PoolExtensionRegistered(id, extension);
    }
}

contract StaticHook is Hook {
    event PoolInitialized(bytes32 poolId, uint24 clankerFee, uint24 pairedFee);

    error ClankerFeeTooHigh();
    error PairedFeeTooHigh();

    constructor(address factory_, IPoolManager poolManager_) Hook(factory_, poolManager_) {}

    function _setFees(bytes32 id, bytes memory feeData) internal override {
        (uint24 clankerFee, uint24 pairedFee) = abi.decode(feeData, (uint24, uint24));
        if (clankerFee > MAX_LP_FEE) revert ClankerFeeTooHigh();
        if (pairedFee > MAX_LP_FEE) revert PairedFeeTooHigh();
        emit PoolInitialized(id, clankerFee, pairedFee);
    }
}

contract DynamicHook is Hook {
    struct Fees {
        uint24 baseFee;
        uint24 maxLpFee;
        uint256 referenceTickFilterPeriod;
        uint256 resetPeriod;
        int24 resetTickFilter;
        uint256 feeControlNumerator;
        uint24 decayFilterBps;
    }

    event PoolInitialized(
        bytes32 poolId,
        uint24 baseFee,
        uint24 maxLpFee,
        uint256 referenceTickFilterPeriod,
        uint256 resetPeriod,
        int24 resetTickFilter,
        uint256 feeControlNumerator,
        uint24 decayFilterBps
    );

    error BaseFeeTooLow();
    error BaseFeeGreaterThanMaxLpFee();
    error MaxLpFeeTooHigh();

    /// 0.25 %.
    uint24 public constant MIN_BASE_FEE = 2_500;

    constructor(address factory_, IPoolManager poolManager_) Hook(factory_, poolManager_) {}

    function _setFees(bytes32 id, bytes memory feeData) internal override {
        Fees memory fees = abi.decode(feeData, (Fees));
        if (fees.baseFee < MIN_BASE_FEE) revert BaseFeeTooLow();
        if (fees.maxLpFee > MAX_LP_FEE) revert MaxLpFeeTooHigh();
        if (fees.baseFee > fees.maxLpFee) revert BaseFeeGreaterThanMaxLpFee();
        emit PoolInitialized(
            id,
            fees.baseFee,
            fees.maxLpFee,
            fees.referenceTickFilterPeriod,
            fees.resetPeriod,
            fees.resetTickFilter,
            fees.feeControlNumerator,
            fees.decayFilterBps
        );
    }
}
