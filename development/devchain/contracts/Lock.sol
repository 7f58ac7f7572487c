// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20, IUnlockCallback, Payments} from "./Interfaces.sol";

/// Uniswap v4's lock, by which its quoter and its router swap: within a callback a caller may owe or be owed, and at the
/// end every debt must be settled. Debts are in transient storage, in the slots that callers read.
abstract contract Lock {
    using Payments for address;

    error ManagerLocked();
    error AlreadyUnlocked();
    error CurrencyNotSettled();

    bool private transient _unlocked;
    // How many debts and credits are open.
    uint256 private transient _open;
    address private transient _synced;
    uint256 private transient _reserves;

    function unlock(bytes calldata data) external returns (bytes memory result) {
        if (_unlocked) revert AlreadyUnlocked();
        _unlocked = true;
        result = IUnlockCallback(msg.sender).unlockCallback(data);
        if (_open != 0) revert CurrencyNotSettled();
        _unlocked = false;
    }

    /// Remembers the balance before the caller pays in the currency.
    function sync(address currency) external {
        _synced = currency;
        _reserves = IERC20(currency).balanceOf(address(this));
    }

    /// Credits the caller with what came since `sync`.
    function settle() external payable returns (uint256 paid) {
        _requireLock();
        paid = IERC20(_synced).balanceOf(address(this)) - _reserves;
        _account(msg.sender, _synced, int256(paid));
        _synced = address(0);
    }

    function take(address currency, address to, uint256 amount) external {
        _requireLock();
        _account(msg.sender, currency, -int256(amount));
        currency.pay(to, amount);
    }

    /// A slot of transient storage, such as a caller's debt (negative) or credit in a currency.
    function exttload(bytes32 slot) external view returns (bytes32 value) {
        assembly ("memory-safe") {
            value := tload(slot)
        }
    }

    function _requireLock() internal view {
        if (!_unlocked) revert ManagerLocked();
    }

    function _account(address who, address currency, int256 amount) internal {
        bytes32 slot = keccak256(abi.encode(who, currency));
        int256 before;
        assembly ("memory-safe") {
            before := tload(slot)
        }
        int256 next = before + amount;
        assembly ("memory-safe") {
            tstore(slot, next)
        }
        if (before == 0 && next != 0) _open++;
        if (before != 0 && next == 0) _open--;
    }
}
