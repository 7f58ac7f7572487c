// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "./ERC20.sol";

/// A launched token. The whole supply is minted to the deployer (the factory) on the originating chain only; the same
/// constructor arguments give the same address on every other chain, with nothing minted there.
contract Token is ERC20 {
    event UpdateImage(string image);
    event UpdateMetadata(string metadata);
    event UpdateAdmin(address indexed oldAdmin, address indexed newAdmin);
    event Verified(address indexed admin, address indexed token);

    error NotAdmin();
    error NotOriginalAdmin();
    error AlreadyVerified();

    address public immutable originalAdmin;
    address public admin;
    string public imageUrl;
    string public metadata;
    string public context;
    bool public isVerified;

    constructor(
        string memory name_,
        string memory symbol_,
        uint256 supply,
        address admin_,
        string memory image_,
        string memory metadata_,
        string memory context_,
        uint256 originatingChainId
    ) ERC20(name_, symbol_) {
        originalAdmin = admin_;
        admin = admin_;
        imageUrl = image_;
        metadata = metadata_;
        context = context_;
        if (block.chainid == originatingChainId) _mint(msg.sender, supply);
    }

    modifier onlyAdmin() {
        if (msg.sender != admin) revert NotAdmin();
        _;
    }

    function updateAdmin(address newAdmin) external onlyAdmin {
        emit UpdateAdmin(admin, newAdmin);
        admin = newAdmin;
    }

    function updateImage(string calldata image) external onlyAdmin {
        imageUrl = image;
        emit UpdateImage(image);
    }

    function updateMetadata(string calldata newMetadata) external onlyAdmin {
        metadata = newMetadata;
        emit UpdateMetadata(newMetadata);
    }

    /// Only the admin at birth can vouch for the token, once.
    function verify() external {
        if (msg.sender != originalAdmin) revert NotOriginalAdmin();
        if (isVerified) revert AlreadyVerified();
        isVerified = true;
        emit Verified(msg.sender, address(this));
    }

    function allData()
        external
        view
        returns (address, address, string memory, string memory, string memory)
    {
        return (originalAdmin, admin, imageUrl, metadata, context);
    }
}
