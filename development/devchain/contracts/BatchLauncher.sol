// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DeploymentConfig, IFactory} from "./Interfaces.sol";

/// Launches several tokens in one transaction, so that the factory's caller is not the signer and a receipt holds
/// several TokenCreated.
contract BatchLauncher {
    function launch(IFactory factory, DeploymentConfig[] calldata configs)
        external
        payable
        returns (address[] memory tokens)
    {
        tokens = new address[](configs.length);
        for (uint256 i = 0; i < configs.length; i++) {
            uint256 value = 0;
            for (uint256 j = 0; j < configs[i].extensionConfigs.length; j++) {
                value += configs[i].extensionConfigs[j].msgValue;
            }
            tokens[i] = factory.deployToken{value: value}(configs[i]);
        }
    }
}
