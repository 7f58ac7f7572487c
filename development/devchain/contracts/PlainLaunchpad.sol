// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "./ERC20.sol";
import {IPoolManager, PoolKey} from "./Interfaces.sol";

/// A token that nobody can change.
contract PlainToken is ERC20 {
    constructor(string memory name_, string memory symbol_, uint256 supply) ERC20(name_, symbol_) {
        _mint(msg.sender, supply);
    }
}

/// A launchpad of another team, which the service knows only by its declaration: one pool without a hook a launch, with
/// the whole supply as liquidity, which stays here.
contract PlainLaunchpad {
    struct Terms {
        string name;
        string symbol;
        string uri;
    }

    event Launched(address indexed token, address indexed creator, bytes32 poolId, Terms terms);

    uint256 public constant SUPPLY = 1e27;
    uint24 public constant FEE = 3000;
    int24 public constant TICK_SPACING = 200;
    int24 public constant REACH = 110_400;
    IPoolManager public immutable poolManager;

    constructor(IPoolManager poolManager_) {
        poolManager = poolManager_;
    }

    /// The tick is given as if the token were currency0.
    function launch(Terms calldata terms, address pairedToken, int24 tick) external returns (address token) {
        token = address(new PlainToken(terms.name, terms.symbol, SUPPLY));
        ERC20(token).approve(address(poolManager), SUPPLY);
        bool first = token < pairedToken;
        PoolKey memory key = PoolKey({
            currency0: first ? token : pairedToken,
            currency1: first ? pairedToken : token,
            fee: FEE,
            tickSpacing: TICK_SPACING,
            hooks: address(0)
        });
        bytes32 id = poolManager.initialize(key, first ? tick : -tick);
        if (first) poolManager.modifyLiquidity(key, tick, tick + REACH, SUPPLY, 0, 0);
        else poolManager.modifyLiquidity(key, -tick - REACH, -tick, 0, SUPPLY, 0);
        emit Launched(token, msg.sender, id, terms);
    }
}
