// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPoolManager, Payments, PoolKey, Unauthorized} from "./Interfaces.sol";
import {TickPrice} from "./TickPrice.sol";

/// A stand-in for Uniswap v4's PoolManager: it keeps pools' reserves and fees and emits Initialize, ModifyLiquidity and
/// Swap as v4 does. It is NOT an exchange: every swap is filled at the starting price, positions do not bound it, and
/// fees exist only when somebody asks for them (`accrueFees`). They belong to the positions by liquidity, whatever their
/// ticks. It is its own StateView: that contract's getters, which read it from outside, are here.
contract PoolManager is IPoolManager {
    using Payments for address;

    struct Pool {
        uint160 root;
        int24 tick;
        uint256 reserve0;
        uint256 reserve1;
        uint256 liquidity;
        // Fees that one unit of liquidity has earned so far, times 2^128.
        uint256 feeGrowth0;
        uint256 feeGrowth1;
        // Fees that positions have let go of, which nobody has taken yet.
        uint256 fees0;
        uint256 fees1;
    }

    struct Position {
        uint128 liquidity;
        // The pool's growth when the position was last touched.
        uint256 feeGrowth0Last;
        uint256 feeGrowth1Last;
    }

    event Initialize(
        bytes32 indexed id,
        address indexed currency0,
        address indexed currency1,
        uint24 fee,
        int24 tickSpacing,
        address hooks,
        uint160 sqrtPriceX96,
        int24 tick
    );
    event ModifyLiquidity(
        bytes32 indexed id,
        address indexed sender,
        int24 tickLower,
        int24 tickUpper,
        int256 liquidityDelta,
        bytes32 salt
    );
    event Swap(
        bytes32 indexed id,
        address indexed sender,
        int128 amount0,
        int128 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick,
        uint24 fee
    );

    error CurrenciesOutOfOrder();
    error PoolAlreadyInitialized();
    error PoolNotInitialized();
    error InvalidCurrency();

    /// The only contract that may take fees out.
    address public immutable locker;
    mapping(bytes32 id => Pool) public pools;
    mapping(bytes32 id => mapping(bytes32 positionId => Position)) private _positions;

    constructor(address locker_) {
        locker = locker_;
    }

    function initialize(PoolKey calldata key, int24 tick) external returns (bytes32 id) {
        if (key.currency0 >= key.currency1) revert CurrenciesOutOfOrder();
        // A pool with a hook is that hook's business alone.
        if (key.hooks != address(0) && key.hooks != msg.sender) revert Unauthorized();
        id = keccak256(abi.encode(key));
        Pool storage pool = pools[id];
        if (pool.root != 0) revert PoolAlreadyInitialized();
        pool.root = TickPrice.rootOf(tick);
        pool.tick = tick;
        emit Initialize(id, key.currency0, key.currency1, key.fee, key.tickSpacing, key.hooks, pool.root, tick);
    }

    /// As StateView's.
    function getPositionInfo(bytes32 poolId, address owner, int24 tickLower, int24 tickUpper, bytes32 salt)
        external
        view
        returns (uint128 liquidity, uint256 feeGrowthInside0LastX128, uint256 feeGrowthInside1LastX128)
    {
        Position storage position = _positions[poolId][_positionId(owner, tickLower, tickUpper, salt)];
        return (position.liquidity, position.feeGrowth0Last, position.feeGrowth1Last);
    }

    /// As StateView's, but that ticks don't matter here.
    function getFeeGrowthInside(bytes32 poolId, int24, int24)
        external
        view
        returns (uint256 feeGrowthInside0X128, uint256 feeGrowthInside1X128)
    {
        return (pools[poolId].feeGrowth0, pools[poolId].feeGrowth1);
    }

    /// Takes the amounts from the caller. What it calls liquidity is just their sum: no curve stands behind it. The
    /// position's fees so far are let go of.
    function modifyLiquidity(
        PoolKey calldata key,
        int24 tickLower,
        int24 tickUpper,
        uint256 amount0,
        uint256 amount1,
        uint256 salt
    ) external {
        (bytes32 id, Pool storage pool) = _find(key);
        emit ModifyLiquidity(id, msg.sender, tickLower, tickUpper, int256(amount0 + amount1), bytes32(salt));
        Position storage position = _positions[id][_positionId(msg.sender, tickLower, tickUpper, bytes32(salt))];
        pool.fees0 += _owed(position, pool.feeGrowth0 - position.feeGrowth0Last);
        pool.fees1 += _owed(position, pool.feeGrowth1 - position.feeGrowth1Last);
        (position.feeGrowth0Last, position.feeGrowth1Last) = (pool.feeGrowth0, pool.feeGrowth1);
        position.liquidity += uint128(amount0 + amount1);
        pool.liquidity += amount0 + amount1;
        if (amount0 != 0) key.currency0.pull(msg.sender, amount0);
        if (amount1 != 0) key.currency1.pull(msg.sender, amount1);
        pool.reserve0 += amount0;
        pool.reserve1 += amount1;
    }

    /// Takes `amountIn` from the caller and pays out at the starting price, no more than the pool holds.
    function swap(PoolKey calldata key, address currencyIn, uint256 amountIn, address recipient)
        external
        returns (uint256 amountOut)
    {
        (bytes32 id, Pool storage pool) = _find(key);
        bool zeroForOne = currencyIn == key.currency0;
        if (!zeroForOne && currencyIn != key.currency1) revert InvalidCurrency();
        amountOut = TickPrice.convert(pool.root, amountIn, zeroForOne);
        uint256 held = zeroForOne ? pool.reserve1 : pool.reserve0;
        if (amountOut > held) amountOut = held;
        currencyIn.pull(msg.sender, amountIn);
        if (zeroForOne) {
            pool.reserve0 += amountIn;
            pool.reserve1 -= amountOut;
            key.currency1.pay(recipient, amountOut);
            _emitSwap(id, pool, -int128(uint128(amountIn)), int128(uint128(amountOut)));
        } else {
            pool.reserve1 += amountIn;
            pool.reserve0 -= amountOut;
            key.currency0.pay(recipient, amountOut);
            _emitSwap(id, pool, int128(uint128(amountOut)), -int128(uint128(amountIn)));
        }
    }

    /// Puts fees aside: the launched side comes out of the pool's own reserve, as if traders had just sold it there; the
    /// other side is taken from the caller. Growth is rounded up, which makes a single position's fees the very amounts;
    /// several lose a unit each to rounding, as in v4.
    function accrueFees(PoolKey calldata key, uint256 amount0, uint256 amount1, address launchedToken) external {
        (, Pool storage pool) = _find(key);
        if (launchedToken == key.currency0) {
            pool.reserve0 -= amount0;
            key.currency1.pull(msg.sender, amount1);
        } else {
            pool.reserve1 -= amount1;
            key.currency0.pull(msg.sender, amount0);
        }
        pool.feeGrowth0 += _growth(amount0, pool.liquidity);
        pool.feeGrowth1 += _growth(amount1, pool.liquidity);
    }

    /// Pays out what positions have let go of.
    function collectFees(PoolKey calldata key, address recipient) external returns (uint256 amount0, uint256 amount1) {
        if (msg.sender != locker) revert Unauthorized();
        (, Pool storage pool) = _find(key);
        (amount0, amount1) = (pool.fees0, pool.fees1);
        (pool.fees0, pool.fees1) = (0, 0);
        if (amount0 != 0) key.currency0.pay(recipient, amount0);
        if (amount1 != 0) key.currency1.pay(recipient, amount1);
    }

    function _find(PoolKey calldata key) private view returns (bytes32 id, Pool storage pool) {
        id = keccak256(abi.encode(key));
        pool = pools[id];
        if (pool.root == 0) revert PoolNotInitialized();
    }

    function _positionId(address owner, int24 tickLower, int24 tickUpper, bytes32 salt) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(owner, tickLower, tickUpper, salt));
    }

    function _owed(Position storage position, uint256 growth) private view returns (uint256) {
        return growth * position.liquidity >> 128;
    }

    function _growth(uint256 amount, uint256 liquidity) private pure returns (uint256) {
        return ((amount << 128) + liquidity - 1) / liquidity;
    }

    function _emitSwap(bytes32 id, Pool storage pool, int128 amount0, int128 amount1) private {
        emit Swap(id, msg.sender, amount0, amount1, pool.root, 0, pool.tick, 0);
    }
}
