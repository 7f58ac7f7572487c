// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IFeeLocker, Payments, Unauthorized} from "./Interfaces.sol";

/// Keeps fees until their owner, or anybody for him, asks. `token` is always the currency of the fee.
contract FeeLocker is IFeeLocker {
    using Payments for address;

    event StoreTokens(
        address indexed sender, address indexed feeOwner, address indexed token, uint256 balance, uint256 amount
    );
    event ClaimTokens(address indexed feeOwner, address indexed token, uint256 amountClaimed);
    event AddDepositor(address indexed depositor);

    error NoFeesToClaim();

    address public immutable owner;
    mapping(address depositor => bool) public allowedDepositors;
    mapping(address feeOwner => mapping(address token => uint256)) public availableFees;

    constructor(address owner_, address[] memory depositors) {
        owner = owner_;
        for (uint256 i = 0; i < depositors.length; i++) {
            _addDepositor(depositors[i]);
        }
    }

    function addDepositor(address depositor) external {
        if (msg.sender != owner) revert Unauthorized();
        _addDepositor(depositor);
    }

    function storeFees(address feeOwner, address token, uint256 amount) external {
        if (!allowedDepositors[msg.sender]) revert Unauthorized();
        token.pull(msg.sender, amount);
        uint256 balance = availableFees[feeOwner][token] + amount;
        availableFees[feeOwner][token] = balance;
        emit StoreTokens(msg.sender, feeOwner, token, balance, amount);
    }

    function claim(address feeOwner, address token) external {
        uint256 amount = availableFees[feeOwner][token];
        if (amount == 0) revert NoFeesToClaim();
        availableFees[feeOwner][token] = 0;
        token.pay(feeOwner, amount);
        emit ClaimTokens(feeOwner, token, amount);
    }

    function _addDepositor(address depositor) private {
        allowedDepositors[depositor] = true;
        emit AddDepositor(depositor);
    }
}
