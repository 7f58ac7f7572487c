// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IMevModule, PoolKey, Unauthorized} from "./Interfaces.sol";

/// Keeps the decaying fee that guards a pool's first seconds. Nothing is charged here: snipers don't trade on the
/// development chain.
contract MevModule is IMevModule {
    event FeeConfigSet(bytes32 poolId, uint24 startingFee, uint24 endingFee, uint256 secondsToDecay);

    error StartingFeeTooHigh();
    error StartingFeeLowerThanEndingFee();
    error TimeDecayLongerThanMaxMevDelay();

    /// 80 %, where 1_000_000 is the whole.
    uint24 public constant MAX_MEV_FEE = 800_000;
    uint256 public constant MAX_SECONDS_TO_DECAY = 2 minutes;

    address public immutable factory;

    constructor(address factory_) {
        factory = factory_;
    }

    function initialize(PoolKey calldata poolKey, bytes calldata mevModuleData) external {
        if (msg.sender != factory) revert Unauthorized();
        (uint24 startingFee, uint24 endingFee, uint256 secondsToDecay) =
            abi.decode(mevModuleData, (uint24, uint24, uint256));
        if (startingFee > MAX_MEV_FEE) revert StartingFeeTooHigh();
        if (startingFee < endingFee) revert StartingFeeLowerThanEndingFee();
        if (secondsToDecay > MAX_SECONDS_TO_DECAY) revert TimeDecayLongerThanMaxMevDelay();
        emit FeeConfigSet(keccak256(abi.encode(poolKey)), startingFee, endingFee, secondsToDecay);
    }
}
