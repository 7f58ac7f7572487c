// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LockerConfig, PoolConfig} from "./Interfaces.sol";

/// What a launch may ask of the locker.
library LockerRules {
    error NoRewardRecipients();
    error TooManyRewardParticipants();
    error MismatchedRewardArrays();
    error InvalidRewardBps();
    error ZeroRewardAmount();
    error ZeroRewardAddress();
    error NoPositions();
    error TooManyPositions();
    error MismatchedPositionInfos();
    error InvalidPositionBps();
    error TicksBackwards();
    error TicksNotMultipleOfTickSpacing();
    error TickRangeLowerThanStartingTick();

    uint256 internal constant BPS = 10_000;
    uint256 internal constant MAX_REWARD_PARTICIPANTS = 7;
    uint256 internal constant MAX_LP_POSITIONS = 7;

    function checkRewards(LockerConfig calldata config) internal pure {
        uint256 count = config.rewardBps.length;
        if (count == 0) revert NoRewardRecipients();
        if (count > MAX_REWARD_PARTICIPANTS) revert TooManyRewardParticipants();
        if (config.rewardAdmins.length != count || config.rewardRecipients.length != count) {
            revert MismatchedRewardArrays();
        }
        uint256 total = 0;
        for (uint256 i = 0; i < count; i++) {
            if (config.rewardBps[i] == 0) revert ZeroRewardAmount();
            if (config.rewardAdmins[i] == address(0) || config.rewardRecipients[i] == address(0)) {
                revert ZeroRewardAddress();
            }
            total += config.rewardBps[i];
        }
        if (total != BPS) revert InvalidRewardBps();
    }

    function checkPositions(LockerConfig calldata config, PoolConfig calldata pool) internal pure {
        uint256 count = config.tickLower.length;
        if (count == 0) revert NoPositions();
        if (count > MAX_LP_POSITIONS) revert TooManyPositions();
        if (config.tickUpper.length != count || config.positionBps.length != count) revert MismatchedPositionInfos();
        uint256 total = 0;
        for (uint256 i = 0; i < count; i++) {
            if (config.tickLower[i] >= config.tickUpper[i]) revert TicksBackwards();
            if (config.tickLower[i] % pool.tickSpacing != 0 || config.tickUpper[i] % pool.tickSpacing != 0) {
                revert TicksNotMultipleOfTickSpacing();
            }
            if (config.tickLower[i] < pool.tickIfToken0IsClanker) revert TickRangeLowerThanStartingTick();
            total += config.positionBps[i];
        }
        if (total != BPS) revert InvalidPositionBps();
    }
}
