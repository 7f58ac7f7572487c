// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20, IPoolManager, IPositionManager, Payments, PoolKey} from "./Interfaces.sol";

/// A stand-in for Uniswap v4's PositionManager: numbers positions and says who owns them. Nothing can be withdrawn.
contract PositionManager is IPositionManager {
    using Payments for address;

    struct Position {
        address owner;
        int24 tickLower;
        int24 tickUpper;
        uint256 amount;
        bytes32 poolId;
    }

    event Transfer(address indexed from, address indexed to, uint256 indexed id);

    IPoolManager public immutable poolManager;
    uint256 public nextTokenId = 1;
    mapping(uint256 id => Position) public positions;

    constructor(IPoolManager poolManager_) {
        poolManager = poolManager_;
    }

    function ownerOf(uint256 id) external view returns (address) {
        return positions[id].owner;
    }

    /// Packed as v4's PositionInfo: 25 bytes of the pool's id, upper tick, lower tick, and whether somebody subscribed.
    function positionInfo(uint256 id) external view returns (uint256) {
        Position storage position = positions[id];
        uint256 ticks = uint256(uint24(position.tickUpper)) << 32 | uint256(uint24(position.tickLower)) << 8;
        return uint256(position.poolId) >> 56 << 56 | ticks;
    }

    /// A position with one currency only, taken from the caller; ticks are the pool's own.
    function mint(PoolKey calldata key, int24 tickLower, int24 tickUpper, address token, uint256 amount)
        external
        returns (uint256 id)
    {
        id = nextTokenId++;
        positions[id] = Position(msg.sender, tickLower, tickUpper, amount, keccak256(abi.encode(key)));
        emit Transfer(address(0), msg.sender, id);
        token.pull(msg.sender, amount);
        IERC20(token).approve(address(poolManager), amount);
        bool first = token == key.currency0;
        poolManager.modifyLiquidity(key, tickLower, tickUpper, first ? amount : 0, first ? 0 : amount, id);
    }

    /// A change of nothing, which is how fees are collected in v4.
    function touch(PoolKey calldata key, uint256 id) external {
        Position storage position = positions[id];
        poolManager.modifyLiquidity(key, position.tickLower, position.tickUpper, 0, 0, id);
    }
}
