// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DeploymentConfig, ExtensionConfig, IExtension, Payments, PoolKey, Unauthorized} from "./Interfaces.sol";
import {Vesting} from "./Vesting.sol";

/// Shares a part of the supply among the addresses of a Merkle tree, locked and then vesting.
contract Airdrop is IExtension {
    using Payments for address;

    struct AirdropInfo {
        address admin;
        bytes32 merkleRoot;
        uint256 totalSupply;
        uint256 totalClaimed;
        uint256 lockupEndTime;
        uint256 vestingEndTime;
        bool adminClaimed;
    }

    event AirdropCreated(
        address indexed token,
        address indexed admin,
        bytes32 merkleRoot,
        uint256 supply,
        uint256 lockupDuration,
        uint256 vestingDuration
    );
    event AirdropClaimed(
        address indexed token, address indexed user, uint256 totalUserAmountClaimed, uint256 userAmountStillLocked
    );
    event AirdropMerkleRootUpdated(address indexed token, bytes32 oldMerkleRoot, bytes32 newMerkleRoot);
    event AirdropAdminUpdated(address indexed token, address indexed oldAdmin, address indexed newAdmin);
    event AirdropAdminClaimed(address indexed token, address indexed admin, uint256 amount);

    error AirdropAlreadyExists();
    error AirdropClosed();
    error AdminClaimTooEarly();
    error InvalidMsgValue();
    error InvalidAirdropBps();
    error AirdropLockupDurationTooShort();
    error AirdropNotUnlocked();
    error InvalidProof();
    error MerkleRootAlreadySet();
    error NothingToClaim();

    uint256 public constant MIN_LOCKUP_DURATION = 1 days;
    uint256 public constant ADMIN_CLAIM_DELAY = 14 days;

    address public immutable factory;
    mapping(address token => AirdropInfo) public airdrops;
    mapping(address token => mapping(address user => uint256)) public amountClaimed;

    constructor(address factory_) {
        factory = factory_;
    }

    modifier onlyAirdropAdmin(address token) {
        if (msg.sender != airdrops[token].admin) revert Unauthorized();
        _;
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
        (address admin, bytes32 merkleRoot, uint256 lockup, uint256 vesting) =
            abi.decode(item.extensionData, (address, bytes32, uint256, uint256));
        if (airdrops[token].lockupEndTime != 0) revert AirdropAlreadyExists();
        if (msg.value != 0) revert InvalidMsgValue();
        if (item.extensionBps == 0) revert InvalidAirdropBps();
        if (lockup < MIN_LOCKUP_DURATION) revert AirdropLockupDurationTooShort();

        uint256 lockupEnds = block.timestamp + lockup;
        airdrops[token] = AirdropInfo(admin, merkleRoot, extensionSupply, 0, lockupEnds, lockupEnds + vesting, false);
        token.pull(msg.sender, extensionSupply);
        emit AirdropCreated(token, admin, merkleRoot, extensionSupply, lockup, vesting);
    }

    /// A launch may leave the root empty; it can be given once, later.
    function updateMerkleRoot(address token, bytes32 newMerkleRoot) external onlyAirdropAdmin(token) {
        AirdropInfo storage airdrop = airdrops[token];
        if (airdrop.merkleRoot != bytes32(0)) revert MerkleRootAlreadySet();
        emit AirdropMerkleRootUpdated(token, airdrop.merkleRoot, newMerkleRoot);
        airdrop.merkleRoot = newMerkleRoot;
    }

    function updateAdmin(address token, address newAdmin) external onlyAirdropAdmin(token) {
        emit AirdropAdminUpdated(token, msg.sender, newAdmin);
        airdrops[token].admin = newAdmin;
    }

    /// What `user` may claim now of the `allocatedAmount` that the tree gives him.
    function amountAvailableToClaim(address token, address user, uint256 allocatedAmount)
        public
        view
        returns (uint256)
    {
        AirdropInfo storage airdrop = airdrops[token];
        return Vesting.unlocked(allocatedAmount, airdrop.lockupEndTime, airdrop.vestingEndTime)
            - amountClaimed[token][user];
    }

    /// Pays `user` what is free; anybody may call it.
    function claim(address token, address user, uint256 allocatedAmount, bytes32[] calldata proof) external {
        AirdropInfo storage airdrop = airdrops[token];
        if (airdrop.adminClaimed) revert AirdropClosed();
        // Hashed twice, so that an inner node of the tree can never pass for a leaf.
        bytes32 leaf = keccak256(bytes.concat(keccak256(abi.encode(user, allocatedAmount))));
        if (_rootFrom(leaf, proof) != airdrop.merkleRoot) revert InvalidProof();
        if (block.timestamp < airdrop.lockupEndTime) revert AirdropNotUnlocked();
        uint256 amount = amountAvailableToClaim(token, user, allocatedAmount);
        if (amount == 0) revert NothingToClaim();
        amountClaimed[token][user] += amount;
        airdrop.totalClaimed += amount;
        token.pay(user, amount);
        uint256 claimed = amountClaimed[token][user];
        emit AirdropClaimed(token, user, claimed, allocatedAmount - claimed);
    }

    /// Gives the admin's recipient what nobody has claimed, a while after all of it was free; claims end with it.
    function adminClaim(address token, address recipient) external onlyAirdropAdmin(token) {
        AirdropInfo storage airdrop = airdrops[token];
        if (airdrop.adminClaimed) revert AirdropClosed();
        if (block.timestamp < airdrop.vestingEndTime + ADMIN_CLAIM_DELAY) revert AdminClaimTooEarly();
        airdrop.adminClaimed = true;
        uint256 amount = airdrop.totalSupply - airdrop.totalClaimed;
        token.pay(recipient, amount);
        emit AirdropAdminClaimed(token, msg.sender, amount);
    }

    function _rootFrom(bytes32 leaf, bytes32[] calldata proof) private pure returns (bytes32 node) {
        node = leaf;
        for (uint256 i = 0; i < proof.length; i++) {
            node = node < proof[i]
                ? keccak256(bytes.concat(node, proof[i]))
                : keccak256(bytes.concat(proof[i], node));
        }
    }
}
