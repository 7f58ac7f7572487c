// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Payments, Unauthorized} from "./Interfaces.sol";
import {Token} from "./Token.sol";

/// Stand-ins for generation v3.1, with the functions that owners call: positions, locker, vault and factory.

/// The NFTs of Uniswap v3 positions, without pools: anybody may pay fees into one.
contract LegacyPositions {
    using Payments for address;

    struct Position {
        address owner;
        address token0;
        address token1;
        uint256 owed0;
        uint256 owed1;
    }

    struct CollectParams {
        uint256 tokenId;
        address recipient;
        uint128 amount0Max;
        uint128 amount1Max;
    }

    mapping(uint256 tokenId => Position) private _positions;
    uint256 private _lastId;

    function mint(address owner, address tokenA, address tokenB) external returns (uint256 tokenId) {
        tokenId = ++_lastId;
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        _positions[tokenId] = Position(owner, token0, token1, 0, 0);
    }

    function accrue(uint256 tokenId, uint256 amount0, uint256 amount1) external {
        Position storage position = _positions[tokenId];
        position.token0.pull(msg.sender, amount0);
        position.token1.pull(msg.sender, amount1);
        position.owed0 += amount0;
        position.owed1 += amount1;
    }

    function tokensOf(uint256 tokenId) external view returns (address token0, address token1) {
        return (_positions[tokenId].token0, _positions[tokenId].token1);
    }

    function collect(CollectParams calldata params) external returns (uint256 amount0, uint256 amount1) {
        Position storage position = _positions[params.tokenId];
        if (msg.sender != position.owner) revert Unauthorized();
        (amount0, amount1) = (position.owed0, position.owed1);
        (position.owed0, position.owed1) = (0, 0);
        position.token0.pay(params.recipient, amount0);
        position.token1.pay(params.recipient, amount1);
    }
}

/// Splits the fees of a position: a fifth for the team, a part for the creator, the rest for the interface.
contract LegacyLocker {
    using Payments for address;

    struct RewardRecipient {
        address admin;
        address recipient;
    }

    struct TokenRewardInfo {
        uint256 lpTokenId;
        uint256 creatorReward;
        RewardRecipient creator;
        RewardRecipient interfacer;
    }

    event CreatorRewardRecipientUpdated(uint256 indexed tokenId, address oldRecipient, address newRecipient);
    event CreatorRewardRecipientAdminUpdated(uint256 indexed tokenId, address oldAdmin, address newAdmin);
    event InterfaceRewardRecipientUpdated(uint256 indexed tokenId, address oldRecipient, address newRecipient);
    event InterfaceRewardRecipientAdminUpdated(uint256 indexed tokenId, address oldAdmin, address newAdmin);

    error NotAllowed(address caller);

    uint256 public constant TEAM_REWARD = 20;
    LegacyPositions public immutable positionManager;
    address public immutable factory;
    address public immutable teamRecipient;
    mapping(uint256 tokenId => TokenRewardInfo) public tokenRewards;

    constructor(LegacyPositions positions, address factory_, address team) {
        (positionManager, factory, teamRecipient) = (positions, factory_, team);
    }

    function addTokenReward(TokenRewardInfo calldata info) external {
        if (msg.sender != factory) revert NotAllowed(msg.sender);
        tokenRewards[info.lpTokenId] = info;
    }

    /// Pays all three; anybody may call it.
    function collectRewards(uint256 tokenId) external {
        (address token0, address token1) = positionManager.tokensOf(tokenId);
        (uint256 amount0, uint256 amount1) = positionManager.collect(
            LegacyPositions.CollectParams(tokenId, address(this), type(uint128).max, type(uint128).max)
        );
        _split(tokenId, token0, amount0);
        _split(tokenId, token1, amount1);
    }

    function updateCreatorRewardRecipient(uint256 tokenId, address newRecipient) external {
        RewardRecipient storage share = _only(tokenRewards[tokenId].creator);
        emit CreatorRewardRecipientUpdated(tokenId, share.recipient, newRecipient);
        share.recipient = newRecipient;
    }

    function updateCreatorRewardAdmin(uint256 tokenId, address newAdmin) external {
        RewardRecipient storage share = _only(tokenRewards[tokenId].creator);
        emit CreatorRewardRecipientAdminUpdated(tokenId, share.admin, newAdmin);
        share.admin = newAdmin;
    }

    function updateInterfaceRewardRecipient(uint256 tokenId, address newRecipient) external {
        RewardRecipient storage share = _only(tokenRewards[tokenId].interfacer);
        emit InterfaceRewardRecipientUpdated(tokenId, share.recipient, newRecipient);
        share.recipient = newRecipient;
    }

    function updateInterfaceRewardAdmin(uint256 tokenId, address newAdmin) external {
        RewardRecipient storage share = _only(tokenRewards[tokenId].interfacer);
        emit InterfaceRewardRecipientAdminUpdated(tokenId, share.admin, newAdmin);
        share.admin = newAdmin;
    }

    function _only(RewardRecipient storage share) private view returns (RewardRecipient storage) {
        if (msg.sender != share.admin) revert NotAllowed(msg.sender);
        return share;
    }

    function _split(uint256 tokenId, address token, uint256 amount) private {
        TokenRewardInfo storage info = tokenRewards[tokenId];
        uint256 team = amount * TEAM_REWARD / 100;
        uint256 creator = amount * info.creatorReward / 100;
        token.pay(teamRecipient, team);
        token.pay(info.creator.recipient, creator);
        token.pay(info.interfacer.recipient, amount - team - creator);
    }
}

/// Keeps a part of the supply for one admin until a time, and then pays what he names.
contract LegacyVault {
    using Payments for address;

    struct Allocation {
        address token;
        uint256 amount;
        uint256 endTime;
        address admin;
    }

    event AllocationCreated(address indexed token, address indexed admin, uint256 amount, uint256 unlockTime);
    event AllocationAdminUpdated(address indexed token, address indexed oldAdmin, address indexed newAdmin);
    event AllocationUnlocked(address indexed token, uint256 amount, uint256 remainingAmount);

    error AllocationNotUnlocked();
    error NotEnoughBalance();

    mapping(address token => Allocation) public allocation;

    function deposit(address token, uint256 amount, uint256 endTime, address admin) external {
        token.pull(msg.sender, amount);
        allocation[token] = Allocation(token, amount, endTime, admin);
        emit AllocationCreated(token, admin, amount, endTime);
    }

    function editAllocationAdmin(address token, address newAdmin) external {
        Allocation storage kept = allocation[token];
        if (msg.sender != kept.admin) revert Unauthorized();
        emit AllocationAdminUpdated(token, kept.admin, newAdmin);
        kept.admin = newAdmin;
    }

    function withdraw(address token, uint256 amount, address to) external {
        Allocation storage kept = allocation[token];
        if (msg.sender != kept.admin) revert Unauthorized();
        if (block.timestamp < kept.endTime) revert AllocationNotUnlocked();
        if (amount > kept.amount) revert NotEnoughBalance();
        kept.amount -= amount;
        token.pay(to, amount);
        emit AllocationUnlocked(token, amount, kept.amount);
    }
}

/// Launches with all other v3.1 contracts of its own; the launcher gets what is not in the vault.
contract LegacyFactory {
    using Payments for address;

    event Launched(address token, uint256 positionId);

    LegacyPositions public immutable positionManager;
    LegacyLocker public immutable locker;
    LegacyVault public immutable vault;
    mapping(address token => uint256) public positionOf;

    constructor(address team) {
        positionManager = new LegacyPositions();
        locker = new LegacyLocker(positionManager, address(this), team);
        vault = new LegacyVault();
    }

    /// The sender is every admin and the creator's recipient.
    function launch(bytes32 salt, address pair, address interfaceRecipient, uint256 vaultAmount, uint256 unlockTime)
        external
    {
        uint256 supply = 1e29;
        Token token =
            new Token{salt: salt}("Legacy", "LEG", supply, msg.sender, "", "", "", block.chainid);
        uint256 positionId = positionManager.mint(address(locker), address(token), pair);
        positionOf[address(token)] = positionId;
        locker.addTokenReward(
            LegacyLocker.TokenRewardInfo(
                positionId,
                40,
                LegacyLocker.RewardRecipient(msg.sender, msg.sender),
                LegacyLocker.RewardRecipient(msg.sender, interfaceRecipient)
            )
        );
        token.approve(address(vault), vaultAmount);
        vault.deposit(address(token), vaultAmount, unlockTime, msg.sender);
        address(token).pay(msg.sender, supply - vaultAmount);
        emit Launched(address(token), positionId);
    }

    function claimRewards(address token) external {
        locker.collectRewards(positionOf[token]);
    }
}
