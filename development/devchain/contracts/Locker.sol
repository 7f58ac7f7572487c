// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    IERC20,
    IFeeLocker,
    ILocker,
    IPoolManager,
    IPositionManager,
    ISwapRouter,
    IWrappedNative,
    LockerConfig,
    Payments,
    PoolConfig,
    PoolKey,
    Unauthorized
} from "./Interfaces.sol";
import {LockerRules} from "./LockerRules.sol";

/// Holds the liquidity of every launch for ever and splits its fees among the recipients.
contract Locker is ILocker {
    using Payments for address;

    enum FeePreference {
        Both,
        Paired,
        Clanker
    }

    /// What lockerData holds.
    struct FeePreferences {
        FeePreference[] feePreference;
    }

    struct TokenRewardInfo {
        address token;
        PoolKey poolKey;
        uint256 positionId;
        uint256 numPositions;
        uint16[] rewardBps;
        address[] rewardAdmins;
        address[] rewardRecipients;
    }

    event TokenRewardAdded(
        address token,
        PoolKey poolKey,
        uint256 poolSupply,
        uint256 positionId,
        uint256 numPositions,
        uint16[] rewardBps,
        address[] rewardAdmins,
        address[] rewardRecipients,
        int24[] tickLower,
        int24[] tickUpper,
        uint16[] positionBps
    );
    event InitialFeePreferences(address indexed token, FeePreference[] feePreference);
    event ClaimedRewards(address indexed token, uint256 amount0, uint256 amount1, uint256[] rewards0, uint256[] rewards1);
    event FeesSwapped(
        address indexed token,
        address indexed rewardToken,
        uint256 amountSwapped,
        address indexed swappedToken,
        uint256 amountOut
    );
    event RewardRecipientUpdated(
        address indexed token, uint256 indexed rewardIndex, address oldRecipient, address newRecipient
    );
    event RewardAdminUpdated(address indexed token, uint256 indexed rewardIndex, address oldAdmin, address newAdmin);
    event FeePreferenceUpdated(
        address indexed token,
        uint256 indexed rewardIndex,
        FeePreference oldFeePreference,
        FeePreference indexed newFeePreference
    );

    error TokenAlreadyHasRewards();
    error TokenHasNoRewards();
    error InvalidFeePreferences();
    error InvalidSwapFeeValue();

    address public immutable factory;
    IFeeLocker public immutable feeLocker;
    IPoolManager public immutable poolManager;
    IPositionManager public immutable positionManager;
    IWrappedNative public immutable wrappedNative;
    ISwapRouter public immutable swapRouter;
    mapping(address token => TokenRewardInfo) private _rewards;
    mapping(address token => FeePreference[]) public feePreferences;

    constructor(
        address factory_,
        IFeeLocker feeLocker_,
        IPoolManager poolManager_,
        IPositionManager positionManager_,
        IWrappedNative wrappedNative_,
        ISwapRouter swapRouter_
    ) {
        factory = factory_;
        feeLocker = feeLocker_;
        poolManager = poolManager_;
        positionManager = positionManager_;
        wrappedNative = wrappedNative_;
        swapRouter = swapRouter_;
    }

    /// The admin of one share may change that share only.
    modifier onlyRewardAdmin(address token, uint256 index) {
        if (msg.sender != _rewards[token].rewardAdmins[index]) revert Unauthorized();
        _;
    }

    function tokenRewards(address token) external view returns (TokenRewardInfo memory) {
        return _rewards[token];
    }

    function placeLiquidity(
        LockerConfig calldata lockerConfig,
        PoolConfig calldata poolConfig,
        PoolKey calldata poolKey,
        uint256 poolSupply,
        address token
    ) external returns (uint256 positionId) {
        if (msg.sender != factory) revert Unauthorized();
        if (_rewards[token].token != address(0)) revert TokenAlreadyHasRewards();
        LockerRules.checkRewards(lockerConfig);
        LockerRules.checkPositions(lockerConfig, poolConfig);

        token.pull(msg.sender, poolSupply);
        positionId = _mintPositions(lockerConfig, poolKey, poolSupply, token);
        _keepFeePreferences(lockerConfig, token);
        _rewards[token] = TokenRewardInfo({
            token: token,
            poolKey: poolKey,
            positionId: positionId,
            numPositions: lockerConfig.tickLower.length,
            rewardBps: lockerConfig.rewardBps,
            rewardAdmins: lockerConfig.rewardAdmins,
            rewardRecipients: lockerConfig.rewardRecipients
        });
        _announce(lockerConfig, poolKey, poolSupply, positionId, token);
    }

    function updateRewardRecipient(address token, uint256 rewardIndex, address newRecipient)
        external
        onlyRewardAdmin(token, rewardIndex)
    {
        if (newRecipient == address(0)) revert LockerRules.ZeroRewardAddress();
        emit RewardRecipientUpdated(token, rewardIndex, _rewards[token].rewardRecipients[rewardIndex], newRecipient);
        _rewards[token].rewardRecipients[rewardIndex] = newRecipient;
    }

    function updateRewardAdmin(address token, uint256 rewardIndex, address newAdmin)
        external
        onlyRewardAdmin(token, rewardIndex)
    {
        if (newAdmin == address(0)) revert LockerRules.ZeroRewardAddress();
        emit RewardAdminUpdated(token, rewardIndex, _rewards[token].rewardAdmins[rewardIndex], newAdmin);
        _rewards[token].rewardAdmins[rewardIndex] = newAdmin;
    }

    function updateFeePreference(address token, uint256 rewardIndex, FeePreference newFeePreference)
        external
        onlyRewardAdmin(token, rewardIndex)
    {
        emit FeePreferenceUpdated(token, rewardIndex, feePreferences[token][rewardIndex], newFeePreference);
        feePreferences[token][rewardIndex] = newFeePreference;
    }

    /// Makes the pool owe fees, as swaps would. For the development chain only: there is no exchange here. The paired
    /// side is taken from the caller, as native currency where the pair is wrapped native and value is sent, else by
    /// allowance; the launched side comes out of the pool. Amounts are in the pool's order of currencies.
    function simulateSwapFees(address token, uint256 amount0, uint256 amount1) external payable {
        PoolKey memory key = _rewards[token].poolKey;
        if (key.currency0 == key.currency1) revert TokenHasNoRewards();
        address paired = token == key.currency0 ? key.currency1 : key.currency0;
        uint256 pairedAmount = token == key.currency0 ? amount1 : amount0;
        if (msg.value == pairedAmount && paired == address(wrappedNative)) {
            wrappedNative.deposit{value: msg.value}();
        } else {
            if (msg.value != 0) revert InvalidSwapFeeValue();
            paired.pull(msg.sender, pairedAmount);
        }
        IERC20(paired).approve(address(poolManager), pairedAmount);
        poolManager.accrueFees(key, amount0, amount1, token);
    }

    /// Takes what the pool owes, splits it by basis points, and stores it for the recipients. Anybody may call it.
    function collectRewards(address token) external {
        TokenRewardInfo storage info = _rewards[token];
        if (info.token == address(0)) revert TokenHasNoRewards();
        PoolKey memory key = info.poolKey;
        for (uint256 i = 0; i < info.numPositions; i++) {
            positionManager.touch(key, info.positionId + i);
        }
        (uint256 fees0, uint256 fees1) = poolManager.collectFees(key, address(this));
        uint256 count = info.rewardBps.length;
        uint256[] memory rewards0 = new uint256[](count);
        uint256[] memory rewards1 = new uint256[](count);
        _distribute(token, key.currency0, key.currency1, fees0, rewards0, rewards1);
        _distribute(token, key.currency1, key.currency0, fees1, rewards1, rewards0);
        emit ClaimedRewards(token, _sum(rewards0), _sum(rewards1), rewards0, rewards1);
    }

    /// Shares `fees` of `currency` out as the real locker does. A recipient who wants only `other` gets his share
    /// swapped, in one swap for all of them, which takes what the divisions leave over; where nobody swaps, the last
    /// one gets that. `same` and `swapped` are the amounts paid per recipient, added to.
    function _distribute(
        address token,
        address currency,
        address other,
        uint256 fees,
        uint256[] memory same,
        uint256[] memory swapped
    ) private {
        if (fees == 0) return;
        FeePreference unwanted = currency == token ? FeePreference.Paired : FeePreference.Clanker;
        uint256 left = _pay(token, currency, fees, unwanted, false, same);
        uint256 last = _last(token, unwanted);
        if (last == type(uint256).max) {
            last = same.length - 1;
            same[last] += left;
            _store(token, last, currency, left);
            return;
        }
        uint256 amountOut = _swap(token, currency, left);
        uint256 rest = _pay(token, other, amountOut, unwanted, true, swapped);
        swapped[last] += rest;
        _store(token, last, other, rest);
        emit FeesSwapped(token, currency, left, other, amountOut);
    }

    /// Pays their bps of `amount` to those who swap, or to those who don't, but for the last one who gets the rest.
    function _pay(
        address token,
        address currency,
        uint256 amount,
        FeePreference unwanted,
        bool swaps,
        uint256[] memory paid
    ) private returns (uint256 left) {
        uint16[] storage rewardBps = _rewards[token].rewardBps;
        uint256 last = _last(token, unwanted);
        if (last == type(uint256).max) last = rewardBps.length - 1;
        left = amount;
        for (uint256 i = 0; i < rewardBps.length; i++) {
            if (i == last || (feePreferences[token][i] == unwanted) != swaps) continue;
            uint256 share = amount * rewardBps[i] / LockerRules.BPS;
            left -= share;
            paid[i] += share;
            _store(token, i, currency, share);
        }
    }

    /// The last recipient who has his share swapped; the largest number where nobody has.
    function _last(address token, FeePreference unwanted) private view returns (uint256 last) {
        last = type(uint256).max;
        for (uint256 i = 0; i < feePreferences[token].length; i++) {
            if (feePreferences[token][i] == unwanted) last = i;
        }
    }

    /// As in the real locker's collection that a swap does not cause, which goes through the Universal Router.
    function _swap(address token, address currency, uint256 amount) private returns (uint256) {
        IERC20(currency).approve(address(swapRouter), amount);
        return swapRouter.swapTokens(_rewards[token].poolKey, currency, amount, address(this));
    }

    function _store(address token, uint256 index, address currency, uint256 amount) private {
        if (amount == 0) return;
        IERC20(currency).approve(address(feeLocker), amount);
        feeLocker.storeFees(_rewards[token].rewardRecipients[index], currency, amount);
    }

    function _sum(uint256[] memory amounts) private pure returns (uint256 total) {
        for (uint256 i = 0; i < amounts.length; i++) {
            total += amounts[i];
        }
    }

    /// The pool's ticks are the negatives, swapped, of the configured ones where the token is currency1.
    function _mintPositions(LockerConfig calldata config, PoolKey calldata key, uint256 poolSupply, address token)
        private
        returns (uint256 firstId)
    {
        IERC20(token).approve(address(positionManager), poolSupply);
        bool first = token == key.currency0;
        uint256 left = poolSupply;
        uint256 last = config.tickLower.length - 1;
        for (uint256 i = 0; i <= last; i++) {
            uint256 amount = i == last ? left : poolSupply * config.positionBps[i] / LockerRules.BPS;
            left -= amount;
            int24 lower = first ? config.tickLower[i] : -config.tickUpper[i];
            int24 upper = first ? config.tickUpper[i] : -config.tickLower[i];
            uint256 id = positionManager.mint(key, lower, upper, token, amount);
            if (i == 0) firstId = id;
        }
    }

    function _keepFeePreferences(LockerConfig calldata config, address token) private {
        FeePreferences memory wanted = abi.decode(config.lockerData, (FeePreferences));
        if (wanted.feePreference.length != config.rewardBps.length) revert InvalidFeePreferences();
        for (uint256 i = 0; i < wanted.feePreference.length; i++) {
            feePreferences[token].push(wanted.feePreference[i]);
        }
        emit InitialFeePreferences(token, wanted.feePreference);
    }

    function _announce(
        LockerConfig calldata config,
        PoolKey calldata key,
        uint256 poolSupply,
        uint256 positionId,
        address token
    ) private {
        emit TokenRewardAdded({
            token: token,
            poolKey: key,
            poolSupply: poolSupply,
            positionId: positionId,
            numPositions: config.tickLower.length,
            rewardBps: config.rewardBps,
            rewardAdmins: config.rewardAdmins,
            rewardRecipients: config.rewardRecipients,
            tickLower: config.tickLower,
            tickUpper: config.tickUpper,
            positionBps: config.positionBps
        });
    }
}
