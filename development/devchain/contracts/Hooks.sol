// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IHook, IPoolManager, PoolKey, SwapFees, Unauthorized} from "./Interfaces.sol";

/// Creates launch pools and sets their fees. The hooks of the real chains are called around swaps and have permission
/// bits in their addresses (they end in 28CC); the stand-in of the pool manager reads the fees of these.
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
    event ClaimProtocolFees(address indexed token, uint256 amount);

    error PoolExtensionNotEnabled();

    /// Uniswap's flag for "the hook sets the fee"; every launch pool has it as its key's fee.
    uint24 public constant DYNAMIC_FEE_FLAG = 0x800000;
    /// 10 %, where 1_000_000 is the whole.
    uint24 public constant MAX_LP_FEE = 100_000;

    /// The launchpad's share of the positions' fee, on top of it: 20 %.
    uint24 public constant PROTOCOL_SHARE = 5;

    address public immutable factory;
    IPoolManager public immutable poolManager;
    mapping(bytes32 id => bool) public tokenIsCurrency0;

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

    function swapFees(bytes32 id, bool zeroForOne) external view returns (SwapFees memory) {
        bool paysPaired = zeroForOne != tokenIsCurrency0[id];
        uint24 lpFee = _lpFee(id, paysPaired);
        return SwapFees({lpFee: lpFee, protocolFee: lpFee / PROTOCOL_SHARE, paysPaired: paysPaired});
    }

    /// The pool manager has paid the launchpad's fee to the factory.
    function announceClaim(address currency, uint256 amount) external {
        if (msg.sender != address(poolManager)) revert Unauthorized();
        emit ClaimProtocolFees(currency, amount);
    }

    function _lpFee(bytes32 id, bool paysPaired) internal view virtual returns (uint24);

    /// Decodes, checks and keeps the fees of a pool, and emits its PoolInitialized.
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
        tokenIsCurrency0[id] = first;
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

    mapping(bytes32 id => uint24) public clankerFee;
    mapping(bytes32 id => uint24) public pairedFee;

    constructor(address factory_, IPoolManager poolManager_) Hook(factory_, poolManager_) {}

    function _setFees(bytes32 id, bytes memory feeData) internal override {
        (uint24 ofToken, uint24 ofPaired) = abi.decode(feeData, (uint24, uint24));
        if (ofToken > MAX_LP_FEE) revert ClankerFeeTooHigh();
        if (ofPaired > MAX_LP_FEE) revert PairedFeeTooHigh();
        (clankerFee[id], pairedFee[id]) = (ofToken, ofPaired);
        emit PoolInitialized(id, ofToken, ofPaired);
    }

    function _lpFee(bytes32 id, bool paysPaired) internal view override returns (uint24) {
        return paysPaired ? pairedFee[id] : clankerFee[id];
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
    mapping(bytes32 id => uint24) public baseFee;

    constructor(address factory_, IPoolManager poolManager_) Hook(factory_, poolManager_) {}

    function _setFees(bytes32 id, bytes memory feeData) internal override {
        Fees memory fees = abi.decode(feeData, (Fees));
        if (fees.baseFee < MIN_BASE_FEE) revert BaseFeeTooLow();
        if (fees.maxLpFee > MAX_LP_FEE) revert MaxLpFeeTooHigh();
        if (fees.baseFee > fees.maxLpFee) revert BaseFeeGreaterThanMaxLpFee();
        baseFee[id] = fees.baseFee;
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

    /// The real hook adds to it where prices move much.
    function _lpFee(bytes32 id, bool) internal view override returns (uint24) {
        return baseFee[id];
    }
}
