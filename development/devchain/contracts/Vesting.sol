// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// How much of an amount is free after a lockup and then a linear vesting.
library Vesting {
    /// `lockupEnds` and `vestingEnds` are timestamps; with no vesting both are the same.
    function unlocked(uint256 amount, uint256 lockupEnds, uint256 vestingEnds) internal view returns (uint256) {
        if (block.timestamp < lockupEnds) return 0;
        if (block.timestamp >= vestingEnds) return amount;
        return amount * (block.timestamp - lockupEnds) / (vestingEnds - lockupEnds);
    }
}
