// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPresaleAllowlist, Unauthorized} from "./Interfaces.sol";

/// Who may buy into a presale, and how much he may pay: a Merkle tree of (buyer, wei).
contract PresaleAllowlist is IPresaleAllowlist {
    struct Allowlist {
        address presaleOwner;
        bytes32 merkleRoot;
        bool enabled;
    }

    struct AllowlistProof {
        uint256 allowedAmount;
        bytes32[] proof;
    }

    event Initialize(uint256 indexed presaleId, address indexed presaleOwner, bytes32 merkleRoot);
    event SetAddressOverride(uint256 indexed presaleId, address indexed buyer, uint256 allowedAmount);
    event SetMerkleRoot(uint256 indexed presaleId, bytes32 merkleRoot);
    event SetAllowlistEnabled(uint256 indexed presaleId, bool enabled);

    error InvalidProof();
    error MerkleRootNotSet();

    address public immutable presale;
    mapping(uint256 presaleId => Allowlist) public allowlists;
    mapping(uint256 presaleId => mapping(address buyer => uint256)) private _overrides;

    constructor(address presale_) {
        presale = presale_;
    }

    function initialize(uint256 presaleId, address presaleOwner, bytes calldata initializationData) external {
        if (msg.sender != presale) revert Unauthorized();
        bytes32 merkleRoot = abi.decode(initializationData, (bytes32));
        allowlists[presaleId] = Allowlist(presaleOwner, merkleRoot, true);
        emit Initialize(presaleId, presaleOwner, merkleRoot);
    }

    modifier onlyPresaleOwner(uint256 presaleId) {
        if (msg.sender != allowlists[presaleId].presaleOwner) revert Unauthorized();
        _;
    }

    function setAddressOverride(uint256 presaleId, address buyer, uint256 allowedAmount)
        external
        onlyPresaleOwner(presaleId)
    {
        _overrides[presaleId][buyer] = allowedAmount;
        emit SetAddressOverride(presaleId, buyer, allowedAmount);
    }

    function setMerkleRoot(uint256 presaleId, bytes32 merkleRoot) external onlyPresaleOwner(presaleId) {
        allowlists[presaleId].merkleRoot = merkleRoot;
        emit SetMerkleRoot(presaleId, merkleRoot);
    }

    function setAllowlistEnabled(uint256 presaleId, bool enabled) external onlyPresaleOwner(presaleId) {
        allowlists[presaleId].enabled = enabled;
        emit SetAllowlistEnabled(presaleId, enabled);
    }

    function getAllowedAmountForBuyer(uint256 presaleId, address buyer, bytes calldata proof)
        external
        view
        returns (uint256)
    {
        Allowlist storage list = allowlists[presaleId];
        if (!list.enabled) return type(uint256).max;
        if (_overrides[presaleId][buyer] > 0) return _overrides[presaleId][buyer];
        if (proof.length == 0) return 0;
        if (list.merkleRoot == bytes32(0)) revert MerkleRootNotSet();
        AllowlistProof memory given = abi.decode(proof, (AllowlistProof));
        // Hashed twice, so that an inner node of the tree can never pass for a leaf.
        bytes32 node = keccak256(bytes.concat(keccak256(abi.encode(buyer, given.allowedAmount))));
        for (uint256 i = 0; i < given.proof.length; i++) {
            node = node < given.proof[i]
                ? keccak256(bytes.concat(node, given.proof[i]))
                : keccak256(bytes.concat(given.proof[i], node));
        }
        if (node != list.merkleRoot) revert InvalidProof();
        return given.allowedAmount;
    }
}
