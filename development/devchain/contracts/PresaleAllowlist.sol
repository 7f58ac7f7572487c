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

    error InvalidProof();
    error MerkleRootNotSet();

    address public immutable presale;
    mapping(uint256 presaleId => Allowlist) public allowlists;

    constructor(address presale_) {
        presale = presale_;
    }

    function initialize(uint256 presaleId, address presaleOwner, bytes calldata initializationData) external {
        if (msg.sender != presale) revert Unauthorized();
        bytes32 merkleRoot = abi.decode(initializationData, (bytes32));
        allowlists[presaleId] = Allowlist(presaleOwner, merkleRoot, true);
        emit Initialize(presaleId, presaleOwner, merkleRoot);
    }

    function getAllowedAmountForBuyer(uint256 presaleId, address buyer, bytes calldata proof)
        external
        view
        returns (uint256)
    {
        Allowlist storage list = allowlists[presaleId];
        if (!list.enabled) return type(uint256).max;
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
