// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20, IPoolManager, ISwapRouter, IWrappedNative, Payments, PoolKey} from "./Interfaces.sol";

/// Swaps for wallets, which pay by allowance or in native currency, and receive native currency for its wrapped form.
contract SwapRouter is ISwapRouter {
    using Payments for address;

    error InvalidValue();
    error InsufficientOutput();
    error NativeTransferFailed();

    IPoolManager public immutable poolManager;
    IWrappedNative public immutable wrappedNative;

    constructor(IPoolManager poolManager_, IWrappedNative wrappedNative_) {
        poolManager = poolManager_;
        wrappedNative = wrappedNative_;
    }

    receive() external payable {}

    /// Returns what the pool has not taken.
    function swap(PoolKey calldata key, address currencyIn, uint256 amountIn, uint256 minOut) external payable {
        if (msg.value == 0) {
            currencyIn.pull(msg.sender, amountIn);
        } else {
            if (currencyIn != address(wrappedNative) || msg.value != amountIn) revert InvalidValue();
            wrappedNative.deposit{value: amountIn}();
        }
        IERC20(currencyIn).approve(address(poolManager), amountIn);
        if (poolManager.swap(key, currencyIn, amountIn, address(this)) < minOut) revert InsufficientOutput();
        _payAll(key.currency0);
        _payAll(key.currency1);
    }

    /// Swaps for contracts, such as the locker's conversions of fees: native currency stays wrapped.
    function swapTokens(PoolKey calldata key, address currencyIn, uint256 amountIn, address recipient)
        external
        returns (uint256 amountOut)
    {
        currencyIn.pull(msg.sender, amountIn);
        IERC20(currencyIn).approve(address(poolManager), amountIn);
        amountOut = poolManager.swap(key, currencyIn, amountIn, recipient);
        uint256 rest = IERC20(currencyIn).balanceOf(address(this));
        if (rest != 0) currencyIn.pay(msg.sender, rest);
    }

    function _payAll(address currency) private {
        uint256 amount = IERC20(currency).balanceOf(address(this));
        if (amount == 0) return;
        if (currency != address(wrappedNative)) return currency.pay(msg.sender, amount);
        wrappedNative.withdraw(amount);
        (bool paid,) = msg.sender.call{value: amount}("");
        if (!paid) revert NativeTransferFailed();
    }
}
