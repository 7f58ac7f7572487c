// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DeploymentConfig, ExtensionConfig, IExtension, Payments, PoolKey, Unauthorized} from "./Interfaces.sol";
import {Vesting} from "./Vesting.sol";

/// Keeps a part of the supply for one admin, locked and then vesting.
contract Vault is IExtension {
    using Payments for address;

    struct Allocation {
        address token;
        uint256 amountTotal;
        uint256 amountClaimed;
        uint256 lockupEndTime;
        uint256 vestingEndTime;
        address admin;
    }

    event AllocationCreated(
        address indexed token, address indexed admin, uint256 supply, uint256 lockupDuration, uint256 vestingDuration
    );
    event AllocationAdminUpdated(address indexed token, address indexed oldAdmin, address indexed newAdmin);
    event AllocationClaimed(address indexed token, uint256 amount, uint256 remainingAmount);

    error AllocationAlreadyExists();
    error InvalidMsgValue();
    error InvalidVaultBps();
    error InvalidVaultAdmin();
    error VaultLockupDurationTooShort();
    error NoBalanceToClaim();

    uint256 public constant MIN_LOCKUP_DURATION = 7 days;

    address public immutable factory;
    mapping(address token => Allocation) public allocation;

    constructor(address factory_) {
        factory = factory_;
    }

    function receiveTokens(
        DeploymentConfig calldata config,
        PoolKey calldata,
        address token,
        uint256 extensionSupply,
        uint256 extensionIndex
    ) external payable {
        if (msg.sender != factory) revert Unauthorized();
        ExtensionConfig calldata item = config.extensionConfigs[extensionIndex];
        (address admin, uint256 lockup, uint256 vesting) =
            abi.decode(item.extensionData, (address, uint256, uint256));
        if (allocation[token].token != address(0)) revert AllocationAlreadyExists();
        if (msg.value != 0) revert InvalidMsgValue();
        if (item.extensionBps == 0) revert InvalidVaultBps();
        if (admin == address(0)) revert InvalidVaultAdmin();
        if (lockup < MIN_LOCKUP_DURATION) revert VaultLockupDurationTooShort();

        uint256 lockupEnds = block.timestamp + lockup;
        allocation[token] = Allocation(token, extensionSupply, 0, lockupEnds, lockupEnds + vesting, admin);
        token.pull(msg.sender, extensionSupply);
        emit AllocationCreated(token, admin, extensionSupply, lockup, vesting);
    }

    function editAllocationAdmin(address token, address newAdmin) external {
        Allocation storage kept = allocation[token];
        if (msg.sender != kept.admin) revert Unauthorized();
        emit AllocationAdminUpdated(token, kept.admin, newAdmin);
        kept.admin = newAdmin;
    }

    function amountAvailableToClaim(address token) public view returns (uint256) {
        Allocation storage kept = allocation[token];
        return Vesting.unlocked(kept.amountTotal, kept.lockupEndTime, kept.vestingEndTime) - kept.amountClaimed;
    }

    /// Pays the admin what is free; anybody may call it.
    function claim(address token) external {
        uint256 amount = amountAvailableToClaim(token);
        if (amount == 0) revert NoBalanceToClaim();
        Allocation storage kept = allocation[token];
        kept.amountClaimed += amount;
        token.pay(kept.admin, amount);
        emit AllocationClaimed(token, amount, kept.amountTotal - kept.amountClaimed);
    }
}
