// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IERC1271 {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);
}

/// Decides a signature that is wrapped by EIP-6492, for a wallet that may not be deployed yet. Its creation code is the
/// data of an `eth_call`, which stores nothing. The code that it returns is the word that a wallet returns for a good
/// signature, or zero.
contract SignatureCheck {
    constructor(address wallet, bytes32 hash, bytes memory signature, address factory, bytes memory factoryCall) {
        bool accepted = accepts(wallet, hash, signature);
        if (!accepted) {
            // Deploys the wallet, or prepares one that is deployed but not up to date.
            (bool done,) = factory.call(factoryCall);
            accepted = done && accepts(wallet, hash, signature);
        }
        bytes32 word = accepted ? bytes32(IERC1271.isValidSignature.selector) : bytes32(0);
        assembly {
            mstore(0, word)
            return(0, 32)
        }
    }

    /// A revert, a shorter result and an address without code are a refusal.
    function accepts(address wallet, bytes32 hash, bytes memory signature) private view returns (bool) {
        (bool done, bytes memory result) = wallet.staticcall(abi.encodeCall(IERC1271.isValidSignature, (hash, signature)));
        return done && result.length >= 32 && bytes32(result) == bytes32(IERC1271.isValidSignature.selector);
    }
}
