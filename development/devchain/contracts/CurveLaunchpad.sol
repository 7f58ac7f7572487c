// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "./ERC20.sol";
import {IERC20, IPoolManager, IWrappedNative, Payments, PoolKey, TransferFailed, Unauthorized} from "./Interfaces.sol";

/// A token of the launchpad below, which holds the whole supply at first.
contract CurveToken is ERC20 {
    constructor(string memory name_, string memory symbol_, uint256 supply) ERC20(name_, symbol_) {
        _mint(msg.sender, supply);
    }
}

/// A launchpad of another kind. It sells most of a token's supply along a curve, on which the product of two reserves is
/// constant; with what it got and the rest of the supply it then opens a pool. Each trade pays one percent to the creator.
contract CurveLaunchpad {
    using Payments for address;

    struct Curve {
        address creator;
        string uri;
        uint256 sold;
        // Wei, beside fees.
        uint256 proceeds;
        // Wei that wait for the creator.
        uint256 fees;
        bool graduated;
    }

    event Launched(address indexed token, address indexed creator, string name, string symbol, string uri);
    event Traded(
        address indexed token,
        address indexed trader,
        bool isBuy,
        uint256 tokenAmount,
        uint256 nativeAmount,
        uint256 fee,
        uint256 tokenReserve,
        uint256 nativeReserve
    );
    event Graduated(address indexed token, bytes32 poolId);
    event CreatorUpdated(address indexed token, address newCreator);
    event UriUpdated(address indexed token, string uri);
    event FeesClaimed(address indexed token, address indexed creator, uint256 amount);

    error UnknownToken();
    error CurveEnded();
    error NothingToTrade();
    error InsufficientOutput();

    uint256 public constant SUPPLY = 1_000_000_000 ether;
    /// What the curve sells; three ether buy all of it.
    uint256 public constant FOR_SALE = 800_000_000 ether;
    uint256 private constant _VIRTUAL_TOKENS = 1_066_666_667 ether;
    uint256 private constant _VIRTUAL_NATIVE = 1 ether;
    uint256 private constant _PRODUCT = _VIRTUAL_TOKENS * _VIRTUAL_NATIVE;
    /// The pool's first price, of a token as currency 0: that at the end of the curve, 1.5e-8 ether.
    int24 private constant _TICK = -180_200;
    int24 private constant _SPACING = 200;
    int24 private constant _REACH = 100_000;
    uint24 private constant _POOL_FEE = 10_000;

    IPoolManager public immutable poolManager;
    IWrappedNative public immutable wrappedNative;
    mapping(address token => Curve) public curves;

    constructor(IPoolManager poolManager_, IWrappedNative wrappedNative_) {
        poolManager = poolManager_;
        wrappedNative = wrappedNative_;
    }

    modifier onlyCreator(address token) {
        if (msg.sender != curves[token].creator) revert Unauthorized();
        _;
    }

    /// Launches a token; the value sent, if any, is the creator's first purchase.
    function launch(string calldata name, string calldata symbol, string calldata uri)
        external
        payable
        returns (address token)
    {
        token = address(new CurveToken(name, symbol, SUPPLY));
        curves[token].creator = msg.sender;
        curves[token].uri = uri;
        emit Launched(token, msg.sender, name, symbol, uri);
        if (msg.value != 0) _buy(token, 0);
    }

    function buy(address token, uint256 minTokens) external payable {
        _buy(token, minTokens);
    }

    function sell(address token, uint256 amount, uint256 minNative) external {
        Curve storage curve = _open(token);
        if (amount == 0) revert NothingToTrade();
        token.pull(msg.sender, amount);
        uint256 native = _nativeReserve(curve) - _divideUp(_PRODUCT, _tokenReserve(curve) + amount);
        curve.sold -= amount;
        curve.proceeds -= native;
        uint256 fee = native / 100;
        curve.fees += fee;
        if (native - fee < minNative) revert InsufficientOutput();
        emit Traded(token, msg.sender, false, amount, native, fee, _tokenReserve(curve), _nativeReserve(curve));
        _payNative(msg.sender, native - fee);
    }

    function updateCreator(address token, address newCreator) external onlyCreator(token) {
        curves[token].creator = newCreator;
        emit CreatorUpdated(token, newCreator);
    }

    function updateUri(address token, string calldata uri) external onlyCreator(token) {
        curves[token].uri = uri;
        emit UriUpdated(token, uri);
    }

    function claimFees(address token) external onlyCreator(token) {
        uint256 amount = curves[token].fees;
        curves[token].fees = 0;
        emit FeesClaimed(token, msg.sender, amount);
        _payNative(msg.sender, amount);
    }

    /// Returns what is beyond the end of the curve.
    function _buy(address token, uint256 minTokens) private {
        Curve storage curve = _open(token);
        uint256 native = msg.value - msg.value / 100;
        uint256 amount = _tokenReserve(curve) - _divideUp(_PRODUCT, _nativeReserve(curve) + native);
        if (amount > FOR_SALE - curve.sold) {
            amount = FOR_SALE - curve.sold;
            native = _divideUp(_PRODUCT, _tokenReserve(curve) - amount) - _nativeReserve(curve);
        }
        if (amount == 0) revert NothingToTrade();
        if (amount < minTokens) revert InsufficientOutput();
        uint256 fee = native / 99;
        curve.sold += amount;
        curve.proceeds += native;
        curve.fees += fee;
        emit Traded(token, msg.sender, true, amount, native, fee, _tokenReserve(curve), _nativeReserve(curve));
        token.pay(msg.sender, amount);
        if (curve.sold == FOR_SALE) _graduate(token, curve);
        _payNative(msg.sender, msg.value - native - fee);
    }

    function _graduate(address token, Curve storage curve) private {
        curve.graduated = true;
        uint256 native = curve.proceeds;
        wrappedNative.deposit{value: native}();
        IERC20(address(wrappedNative)).approve(address(poolManager), native);
        IERC20(token).approve(address(poolManager), SUPPLY - FOR_SALE);
        bool isFirst = token < address(wrappedNative);
        (address low, address high) =
            isFirst ? (token, address(wrappedNative)) : (address(wrappedNative), token);
        PoolKey memory key = PoolKey(low, high, _POOL_FEE, _SPACING, address(0));
        int24 tick = isFirst ? _TICK : -_TICK;
        bytes32 id = poolManager.initialize(key, tick);
        (uint256 above, uint256 below) = isFirst ? (SUPPLY - FOR_SALE, native) : (native, SUPPLY - FOR_SALE);
        poolManager.modifyLiquidity(key, tick, tick + _REACH, above, 0, 0);
        poolManager.modifyLiquidity(key, tick - _REACH, tick, 0, below, 0);
        emit Graduated(token, id);
    }

    function _open(address token) private view returns (Curve storage curve) {
        curve = curves[token];
        if (curve.creator == address(0)) revert UnknownToken();
        if (curve.graduated) revert CurveEnded();
    }

    function _tokenReserve(Curve storage curve) private view returns (uint256) {
        return _VIRTUAL_TOKENS - curve.sold;
    }

    function _nativeReserve(Curve storage curve) private view returns (uint256) {
        return _VIRTUAL_NATIVE + curve.proceeds;
    }

    /// Rounds in favour of the curve.
    function _divideUp(uint256 product, uint256 by) private pure returns (uint256) {
        return (product + by - 1) / by;
    }

    function _payNative(address to, uint256 amount) private {
        if (amount == 0) return;
        (bool paid,) = to.call{value: amount}("");
        if (!paid) revert TransferFailed();
    }
}
