// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IHook, IPoolManager, Payments, PoolKey, SwapFees, SwapParams, Unauthorized} from "./Interfaces.sol";
import {Lock} from "./Lock.sol";
import {SwapMath} from "./SwapMath.sol";
import {TickPrice} from "./TickPrice.sol";

/// A stand-in for Uniswap v4's PoolManager: swaps of an exact input with v4's arithmetic, and its events Initialize,
/// ModifyLiquidity and Swap. The development contracts pay by allowance instead of within a lock, a position is of one
/// currency, and fees belong to the positions by liquidity, whatever their ticks. It is its own StateView: that
/// contract's getters, which read it from outside, are here. Uniswap's quoter and router swap within a lock: see Lock.
contract PoolManager is IPoolManager, Lock {
    using Payments for address;

    struct Pool {
        uint160 root;
        int24 tick;
        // Of the positions around the price, and of all.
        uint128 liquidity;
        uint256 totalLiquidity;
        // Ends of positions, in no order: launches have seven positions at most. A tick may be there twice.
        int24[] ticks;
        // What the liquidity changes by where the price rises past a tick.
        mapping(int24 tick => int128) liquidityNet;
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

    /// Of ERC-6909, for what a hook holds in here.
    event Transfer(
        address caller, address indexed sender, address indexed receiver, uint256 indexed id, uint256 amount
    );

    error CurrenciesOutOfOrder();
    error PoolAlreadyInitialized();
    error PoolNotInitialized();
    error InvalidCurrency();
    error NotOneSided();
    error NoLiquidity();

    /// What hooks hold in here for the launchpad after swaps within a lock; the pool's next swap pays it.
    mapping(address hook => mapping(address currency => uint256)) private _held;
    /// The only contract that may take fees out.
    address public immutable locker;
    mapping(bytes32 id => Pool) private _pools;
    mapping(bytes32 id => mapping(bytes32 positionId => Position)) private _positions;

    constructor(address locker_) {
        locker = locker_;
    }

    function initialize(PoolKey calldata key, int24 tick) external returns (bytes32 id) {
        if (key.currency0 >= key.currency1) revert CurrenciesOutOfOrder();
        // A pool with a hook is that hook's business alone.
        if (key.hooks != address(0) && key.hooks != msg.sender) revert Unauthorized();
        id = keccak256(abi.encode(key));
        Pool storage pool = _pools[id];
        if (pool.root != 0) revert PoolAlreadyInitialized();
        pool.root = TickPrice.rootOf(tick);
        pool.tick = tick;
        emit Initialize(id, key.currency0, key.currency1, key.fee, key.tickSpacing, key.hooks, pool.root, tick);
    }

    /// As StateView's, but that fees are the hook's business.
    function getSlot0(bytes32 poolId)
        external
        view
        returns (uint160 sqrtPriceX96, int24 tick, uint24 protocolFee, uint24 lpFee)
    {
        return (_pools[poolId].root, _pools[poolId].tick, 0, 0);
    }

    /// As StateView's.
    function getLiquidity(bytes32 poolId) external view returns (uint128 liquidity) {
        return _pools[poolId].liquidity;
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
        return (_pools[poolId].feeGrowth0, _pools[poolId].feeGrowth1);
    }

    /// Takes the amount from the caller, which is of the one currency that the range holds at the present price, and lets
    /// go of the position's fees so far.
    function modifyLiquidity(
        PoolKey calldata key,
        int24 tickLower,
        int24 tickUpper,
        uint256 amount0,
        uint256 amount1,
        uint256 salt
    ) external {
        (bytes32 id, Pool storage pool) = _find(key);
        uint128 added = _liquidityOf(pool.root, tickLower, tickUpper, amount0, amount1);
        emit ModifyLiquidity(id, msg.sender, tickLower, tickUpper, int256(uint256(added)), bytes32(salt));
        Position storage position = _positions[id][_positionId(msg.sender, tickLower, tickUpper, bytes32(salt))];
        pool.fees0 += _owed(position, pool.feeGrowth0 - position.feeGrowth0Last);
        pool.fees1 += _owed(position, pool.feeGrowth1 - position.feeGrowth1Last);
        (position.feeGrowth0Last, position.feeGrowth1Last) = (pool.feeGrowth0, pool.feeGrowth1);
        position.liquidity += added;
        if (added != 0) _addLiquidity(pool, tickLower, tickUpper, added);
        if (amount0 != 0) key.currency0.pull(msg.sender, amount0);
        if (amount1 != 0) key.currency1.pull(msg.sender, amount1);
    }

    /// Takes up to `amountIn` from the caller, as much as there is liquidity for. The launchpad's fee is in the paired
    /// token: beside the swap's amounts, as on the real chains, where the hook's next swap pays it to the factory; here
    /// the same swap does.
    function swap(PoolKey calldata key, address currencyIn, uint256 amountIn, address recipient)
        external
        returns (uint256 amountOut)
    {
        _claimHeld(key);
        (bytes32 id, Pool storage pool) = _find(key);
        bool zeroForOne = currencyIn == key.currency0;
        if (!zeroForOne && currencyIn != key.currency1) revert InvalidCurrency();
        SwapFees memory fees = _feesOf(key, id, zeroForOne);
        uint256 teamFee = fees.paysPaired ? amountIn * _scaled(fees.protocolFee) / 1 ether : 0;
        if (fees.paysPaired) _mint(key.hooks, currencyIn, teamFee);
        uint256 paid;
        (paid, amountOut) = _trade(pool, zeroForOne, -int256(amountIn - teamFee), fees.lpFee);
        if (paid == 0) revert NoLiquidity();
        _emitSwap(id, pool, zeroForOne, paid, amountOut, fees.lpFee);
        currencyIn.pull(msg.sender, paid + teamFee);
        address currencyOut = zeroForOne ? key.currency1 : key.currency0;
        if (!fees.paysPaired && key.hooks != address(0)) {
            teamFee = amountOut * fees.protocolFee / SwapMath.MILLION;
            amountOut -= teamFee;
            _mint(key.hooks, currencyOut, teamFee);
        }
        _claim(key.hooks, fees.paysPaired ? currencyIn : currencyOut, teamFee);
        currencyOut.pay(recipient, amountOut);
    }

    /// As v4's: the amount is negative for an exact input, positive for an exact output, and so is a debt in the answer.
    /// The caller settles before its lock ends. The price has no limit. Hooks take no data.
    function swap(PoolKey calldata key, SwapParams calldata params, bytes calldata) external returns (int256 delta) {
        _requireLock();
        _claimHeld(key);
        (bytes32 id, Pool storage pool) = _find(key);
        (int256 amountIn, int256 amountOut) = _swapWithin(key, id, pool, params);
        (int256 amount0, int256 amount1) = params.zeroForOne ? (-amountIn, amountOut) : (amountOut, -amountIn);
        _account(msg.sender, key.currency0, amount0);
        _account(msg.sender, key.currency1, amount1);
        return amount0 << 128 | int256(uint256(uint128(int128(amount1))));
    }

    /// Puts fees aside without a swap: the launched side comes out of the positions, as if traders had just sold it there;
    /// the other side is taken from the caller. Growth is rounded up, which makes a single position's fees the very amounts;
    /// several lose a unit each to rounding, as in v4.
    function accrueFees(PoolKey calldata key, uint256 amount0, uint256 amount1, address launchedToken) external {
        (, Pool storage pool) = _find(key);
        if (launchedToken == key.currency0) {
            key.currency1.pull(msg.sender, amount1);
        } else {
            key.currency0.pull(msg.sender, amount0);
        }
        pool.feeGrowth0 += _growth(amount0, pool.totalLiquidity);
        pool.feeGrowth1 += _growth(amount1, pool.totalLiquidity);
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

    /// The launchpad's fee is in the paired token, on top of what the pool takes or out of what it gives, as the real
    /// hook's four cases have it.
    function _swapWithin(PoolKey calldata key, bytes32 id, Pool storage pool, SwapParams calldata params)
        private
        returns (int256, int256)
    {
        SwapFees memory fees = _feesOf(key, id, params.zeroForOne);
        bool exactIn = params.amountSpecified < 0;
        int256 specified = params.amountSpecified;
        uint256 teamFee;
        if (exactIn && fees.paysPaired) {
            teamFee = uint256(-specified) * _scaled(fees.protocolFee) / 1 ether;
            specified += int256(teamFee);
        } else if (!exactIn && !fees.paysPaired) {
            teamFee = uint256(specified) * (uint256(fees.protocolFee) * 1 ether / (SwapMath.MILLION - fees.protocolFee)) / 1 ether;
            specified += int256(teamFee);
        }
        (uint256 paid, uint256 got) = _trade(pool, params.zeroForOne, specified, fees.lpFee);
        _emitSwap(id, pool, params.zeroForOne, paid, got, fees.lpFee);
        if (exactIn != fees.paysPaired) {
            teamFee = (exactIn ? got : paid) * fees.protocolFee / SwapMath.MILLION;
        }
        bool inPaid = params.zeroForOne == fees.paysPaired;
        if (key.hooks != address(0)) {
            _mint(key.hooks, inPaid ? key.currency0 : key.currency1, teamFee);
            _held[key.hooks][inPaid ? key.currency0 : key.currency1] += teamFee;
        }
        return fees.paysPaired ? (int256(paid + teamFee), int256(got)) : (int256(paid), int256(got) - int256(teamFee));
    }

    function _claimHeld(PoolKey calldata key) private {
        for (uint256 i = 0; i < 2; i++) {
            address currency = i == 0 ? key.currency0 : key.currency1;
            uint256 amount = _held[key.hooks][currency];
            _held[key.hooks][currency] = 0;
            _claim(key.hooks, currency, amount);
        }
    }

    /// The share of a specified amount, with which the fee is the wanted part of the rest.
    function _scaled(uint256 protocolFee) private pure returns (uint256) {
        return protocolFee * 1 ether / (SwapMath.MILLION + protocolFee);
    }

    function _mint(address hook, address currency, uint256 amount) private {
        emit Transfer(hook, address(0), hook, uint160(currency), amount);
    }

    function _claim(address hook, address currency, uint256 amount) private {
        if (amount == 0) return;
        emit Transfer(hook, hook, address(0), uint160(currency), amount);
        currency.pay(IHook(hook).factory(), amount);
        IHook(hook).announceClaim(currency, amount);
    }

    function _find(PoolKey calldata key) private view returns (bytes32 id, Pool storage pool) {
        id = keccak256(abi.encode(key));
        pool = _pools[id];
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

    function _feesOf(PoolKey calldata key, bytes32 id, bool zeroForOne) private view returns (SwapFees memory) {
        if (key.hooks == address(0)) return SwapFees({lpFee: key.fee, protocolFee: 0, paysPaired: false});
        return IHook(key.hooks).swapFees(id, zeroForOne);
    }

    /// Moves the price, from one end of positions to the next, until the input (negative) or the output (positive) is
    /// used, or no liquidity is left.
    function _trade(Pool storage pool, bool zeroForOne, int256 specified, uint24 fee)
        private
        returns (uint256 paid, uint256 amountOut)
    {
        uint256 feePaid;
        while (specified != 0) {
            (bool found, int24 next) = _nextTick(pool, zeroForOne);
            if (!found) break;
            uint160 target = TickPrice.rootOf(next);
            SwapMath.Step memory step = SwapMath.stepTo(target, pool.root, pool.liquidity, specified, fee);
            specified += specified < 0 ? int256(step.amountIn + step.fee) : -int256(step.amountOut);
            paid += step.amountIn + step.fee;
            feePaid += step.fee;
            amountOut += step.amountOut;
            pool.root = step.root;
            if (step.root != target) pool.tick = TickPrice.tickOf(step.root);
            else _cross(pool, next, zeroForOne);
        }
        if (feePaid == 0) return (paid, amountOut);
        if (zeroForOne) pool.feeGrowth0 += _growth(feePaid, pool.totalLiquidity);
        else pool.feeGrowth1 += _growth(feePaid, pool.totalLiquidity);
    }

    function _nextTick(Pool storage pool, bool zeroForOne) private view returns (bool found, int24 next) {
        for (uint256 i = 0; i < pool.ticks.length; i++) {
            int24 tick = pool.ticks[i];
            if ((tick <= pool.tick) != zeroForOne) continue;
            if (!found || (tick > next) == zeroForOne) (found, next) = (true, tick);
        }
    }

    function _cross(Pool storage pool, int24 tick, bool zeroForOne) private {
        int128 net = pool.liquidityNet[tick];
        pool.liquidity = uint128(int128(pool.liquidity) + (zeroForOne ? -net : net));
        pool.tick = zeroForOne ? tick - 1 : tick;
    }

    function _addLiquidity(Pool storage pool, int24 tickLower, int24 tickUpper, uint128 added) private {
        if (pool.liquidityNet[tickLower] == 0) pool.ticks.push(tickLower);
        pool.liquidityNet[tickLower] += int128(added);
        if (pool.liquidityNet[tickUpper] == 0) pool.ticks.push(tickUpper);
        pool.liquidityNet[tickUpper] -= int128(added);
        pool.totalLiquidity += added;
        if (tickLower <= pool.tick && pool.tick < tickUpper) pool.liquidity += added;
    }

    function _liquidityOf(uint160 root, int24 tickLower, int24 tickUpper, uint256 amount0, uint256 amount1)
        private
        pure
        returns (uint128)
    {
        if (amount0 == 0 && amount1 == 0) return 0;
        (uint160 lower, uint160 upper) = (TickPrice.rootOf(tickLower), TickPrice.rootOf(tickUpper));
        if (amount0 == 0 ? root < upper : amount1 != 0 || root > lower) revert NotOneSided();
        return uint128(SwapMath.liquidityFor(lower, upper, amount0, amount1));
    }

    function _emitSwap(bytes32 id, Pool storage pool, bool zeroForOne, uint256 paid, uint256 amountOut, uint24 fee)
        private
    {
        (int128 out, int128 into) = (int128(uint128(amountOut)), -int128(uint128(paid)));
        (int128 amount0, int128 amount1) = zeroForOne ? (into, out) : (out, into);
        emit Swap(id, msg.sender, amount0, amount1, pool.root, pool.liquidity, pool.tick, fee);
    }
}
