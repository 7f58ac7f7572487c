// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "./SignatureCheck.sol";

enum Behavior {
    Honest,
    WrongValue,
    Reverts,
    BurnsGas,
    LongResult,
    Echo
}

/// A wallet whose owner's key signs, or one that misbehaves.
contract SmartWallet is IERC1271 {
    address public immutable owner;
    Behavior public immutable behavior;

    constructor(address owner_, Behavior behavior_) {
        owner = owner_;
        behavior = behavior_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (behavior == Behavior.Reverts) revert("limit exceeded");
        if (behavior == Behavior.BurnsGas) while (true) {}
        if (behavior == Behavior.Echo) {
            assembly {
                calldatacopy(0, 0, calldatasize())
                return(0, calldatasize())
            }
        }
        if (behavior == Behavior.LongResult) {
            assembly {
                return(0, 1000000)
            }
        }
        if (behavior == Behavior.WrongValue || signature.length != 65) return 0xffffffff;
        address signer =
            ecrecover(hash, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return signer == owner ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}

contract SmartWalletFactory {
    function addressOf(address owner, Behavior behavior) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(SmartWallet).creationCode, abi.encode(owner, behavior)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code)))));
    }

    function create(address owner, Behavior behavior) external returns (address) {
        return address(new SmartWallet{salt: 0}(owner, behavior));
    }
}
