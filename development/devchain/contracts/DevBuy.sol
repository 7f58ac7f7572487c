// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    DeploymentConfig,
    ExtensionConfig,
    IERC20,
    IExtension,
    IPoolManager,
    IWrappedNative,
    PoolKey,
    Unauthorized
} from "./Interfaces.sol";

/// Buys the launched token with native currency in the launch itself, through the paired token's own pool where the pair
/// is not wrapped native.
contract DevBuy is IExtension {
    event EthDevBuy(address indexed token, address indexed user, uint256 ethAmount, uint256 tokenAmount);

    error InvalidEthDevBuyPercentage();
    error InvalidMsgValue();
    error InvalidPairedTokenPoolKey();
    error InsufficientOutput();

    address public immutable factory;
    IPoolManager public immutable poolManager;
    IWrappedNative public immutable wrappedNative;

    constructor(address factory_, IPoolManager poolManager_, IWrappedNative wrappedNative_) {
        factory = factory_;
        poolManager = poolManager_;
        wrappedNative = wrappedNative_;
    }

    function receiveTokens(
        DeploymentConfig calldata config,
        PoolKey calldata poolKey,
        address token,
        uint256,
        uint256 extensionIndex
    ) external payable {
        if (msg.sender != factory) revert Unauthorized();
        ExtensionConfig calldata item = config.extensionConfigs[extensionIndex];
        if (item.extensionBps != 0) revert InvalidEthDevBuyPercentage();
        if (msg.value == 0) revert InvalidMsgValue();
        (PoolKey memory pairedKey, uint128 minOut, address recipient) =
            abi.decode(item.extensionData, (PoolKey, uint128, address));

        wrappedNative.deposit{value: msg.value}();
        address paired = config.poolConfig.pairedToken;
        uint256 pairedAmount = msg.value;
        if (paired != address(wrappedNative)) {
            pairedAmount = _buyPaired(pairedKey, paired);
        }
        uint256 bought = _swap(poolKey, paired, pairedAmount, recipient);
        if (bought < minOut) revert InsufficientOutput();
        emit EthDevBuy(token, recipient, msg.value, bought);
    }

    function _buyPaired(PoolKey memory key, address paired) private returns (uint256) {
        address native = address(wrappedNative);
        bool fits = (key.currency0 == native && key.currency1 == paired)
            || (key.currency1 == native && key.currency0 == paired);
        if (!fits) revert InvalidPairedTokenPoolKey();
        return _swap(key, native, msg.value, address(this));
    }

    function _swap(PoolKey memory key, address currencyIn, uint256 amountIn, address recipient)
        private
        returns (uint256)
    {
        IERC20(currencyIn).approve(address(poolManager), amountIn);
        return poolManager.swap(key, currencyIn, amountIn, recipient);
    }
}
