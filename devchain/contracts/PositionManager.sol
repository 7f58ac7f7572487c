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

    /// A position with one currency only, taken from the caller; ticks are the pool's own.
    function mint(PoolKey calldata key, int24 tickLower, int24 tickUpper, address token, uint256 amount)
        external
        returns (uint256 id)
    {
        id = nextTokenId++;
        positions[id] = Position(msg.sender, tickLower, tickUpper, amount);
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
