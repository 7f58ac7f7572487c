// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    DeploymentConfig,
    ExtensionConfig,
    IERC20,
    IExtension,
    IHook,
    ILocker,
    IMevModule,
    Payments,
    PoolKey,
    TokenConfig,
    Unauthorized
} from "./Interfaces.sol";
import {Token} from "./Token.sol";

/// Launches a token, its pool, its locked liquidity and its extensions in one call. Anybody may launch.
contract Factory {
    struct DeploymentInfo {
        address token;
        address hook;
        address locker;
        address[] extensions;
    }

    event TokenCreated(
        address msgSender,
        address indexed tokenAddress,
        address indexed tokenAdmin,
        string tokenImage,
        string tokenName,
        string tokenSymbol,
        string tokenMetadata,
        string tokenContext,
        int24 startingTick,
        address poolHook,
        bytes32 poolId,
        address pairedToken,
        address locker,
        address mevModule,
        uint256 extensionsSupply,
        address[] extensions
    );
    event ExtensionTriggered(address extension, uint256 extensionSupply, uint256 msgValue);
    event ClaimTeamFees(address indexed token, address indexed recipient, uint256 amount);

    error Deprecated();
    error NotFound();
    error OnlyOriginatingChain();
    error OnlyNonOriginatingChains();
    error HookNotEnabled();
    error LockerNotEnabled();
    error MevModuleNotEnabled();
    error ExtensionNotEnabled();
    error ExtensionMsgValueMismatch();
    error MaxExtensionsExceeded();
    error MaxExtensionBpsExceeded();

    uint256 public constant TOKEN_SUPPLY = 100_000_000_000 ether;
    uint256 public constant BPS = 10_000;
    uint256 public constant MAX_EXTENSIONS = 10;
    uint256 public constant MAX_EXTENSION_BPS = 9_000;

    address public immutable owner;
    address public teamFeeRecipient;
    bool public deprecated;
    /// Hooks, lockers, extensions and MEV modules that the owner allows, in one set: no address has two roles.
    mapping(address module => bool) public enabled;
    mapping(address token => DeploymentInfo) private _deployments;

    constructor(address owner_, address[] memory modules) {
        owner = owner_;
        teamFeeRecipient = owner_;
        for (uint256 i = 0; i < modules.length; i++) {
            enabled[modules[i]] = true;
        }
    }

    modifier onlyOwner() {
        if (msg.sender != owner) revert Unauthorized();
        _;
    }

    function setDeprecated(bool deprecated_) external onlyOwner {
        deprecated = deprecated_;
    }

    function setEnabled(address module, bool enabled_) external onlyOwner {
        enabled[module] = enabled_;
    }

    function setTeamFeeRecipient(address recipient) external onlyOwner {
        teamFeeRecipient = recipient;
    }

    function claimTeamFees(address token) external onlyOwner {
        uint256 amount = IERC20(token).balanceOf(address(this));
        Payments.pay(token, teamFeeRecipient, amount);
        emit ClaimTeamFees(token, teamFeeRecipient, amount);
    }

    function tokenDeploymentInfo(address token) external view returns (DeploymentInfo memory) {
        if (_deployments[token].token == address(0)) revert NotFound();
        return _deployments[token];
    }

    /// The same token on a chain that is not its own: nothing is minted and no event is emitted.
    function deployTokenZeroSupply(TokenConfig calldata tokenConfig) external returns (address token) {
        if (deprecated) revert Deprecated();
        if (tokenConfig.originatingChainId == block.chainid) revert OnlyNonOriginatingChains();
        return _createToken(tokenConfig);
    }

    function deployToken(DeploymentConfig calldata config) external payable returns (address token) {
        if (deprecated) revert Deprecated();
        if (config.tokenConfig.originatingChainId != block.chainid) revert OnlyOriginatingChain();
        _checkModules(config);
        uint256 extensionsSupply = _checkExtensions(config.extensionConfigs);

        token = _createToken(config.tokenConfig);
        PoolKey memory poolKey = _createPool(config, token);
        uint256 poolSupply = TOKEN_SUPPLY - extensionsSupply;
        IERC20(token).approve(config.lockerConfig.locker, poolSupply);
        ILocker(config.lockerConfig.locker)
            .placeLiquidity(config.lockerConfig, config.poolConfig, poolKey, poolSupply, token);
        address[] memory extensions = _triggerExtensions(config, poolKey, token);
        // The pool is protected only from here on, so that an extension's own buy is not taxed.
        IMevModule(config.mevModuleConfig.mevModule).initialize(poolKey, config.mevModuleConfig.mevModuleData);

        _deployments[token] =
            DeploymentInfo(token, config.poolConfig.hook, config.lockerConfig.locker, extensions);
        _announce(config, token, keccak256(abi.encode(poolKey)), extensionsSupply, extensions);
    }

    function _createToken(TokenConfig calldata config) private returns (address) {
        // The admin is part of the salt, so nobody can take the address that another admin expects.
        bytes32 salt = keccak256(abi.encode(config.tokenAdmin, config.salt));
        return address(
            new Token{salt: salt}(
                config.name,
                config.symbol,
                TOKEN_SUPPLY,
                config.tokenAdmin,
                config.image,
                config.metadata,
                config.context,
                config.originatingChainId
            )
        );
    }

    function _createPool(DeploymentConfig calldata config, address token) private returns (PoolKey memory) {
        return IHook(config.poolConfig.hook)
            .initializePool(
                token,
                config.poolConfig.pairedToken,
                config.poolConfig.tickIfToken0IsClanker,
                config.poolConfig.tickSpacing,
                config.lockerConfig.locker,
                config.mevModuleConfig.mevModule,
                config.poolConfig.poolData
            );
    }

    function _checkModules(DeploymentConfig calldata config) private view {
        if (!enabled[config.poolConfig.hook]) revert HookNotEnabled();
        if (!enabled[config.lockerConfig.locker]) revert LockerNotEnabled();
        if (!enabled[config.mevModuleConfig.mevModule]) revert MevModuleNotEnabled();
    }

    function _checkExtensions(ExtensionConfig[] calldata configs) private view returns (uint256 supply) {
        if (configs.length > MAX_EXTENSIONS) revert MaxExtensionsExceeded();
        uint256 bps = 0;
        uint256 value = 0;
        for (uint256 i = 0; i < configs.length; i++) {
            if (!enabled[configs[i].extension]) revert ExtensionNotEnabled();
            bps += configs[i].extensionBps;
            value += configs[i].msgValue;
            supply += TOKEN_SUPPLY * configs[i].extensionBps / BPS;
        }
        if (bps > MAX_EXTENSION_BPS) revert MaxExtensionBpsExceeded();
        if (value != msg.value) revert ExtensionMsgValueMismatch();
    }

    function _triggerExtensions(DeploymentConfig calldata config, PoolKey memory poolKey, address token)
        private
        returns (address[] memory extensions)
    {
        uint256 count = config.extensionConfigs.length;
        extensions = new address[](count);
        for (uint256 i = 0; i < count; i++) {
            ExtensionConfig calldata item = config.extensionConfigs[i];
            extensions[i] = item.extension;
            uint256 supply = TOKEN_SUPPLY * item.extensionBps / BPS;
            IERC20(token).approve(item.extension, supply);
            IExtension(item.extension).receiveTokens{value: item.msgValue}(config, poolKey, token, supply, i);
            emit ExtensionTriggered(item.extension, supply, item.msgValue);
        }
    }

    function _announce(
        DeploymentConfig calldata config,
        address token,
        bytes32 poolId,
        uint256 extensionsSupply,
        address[] memory extensions
    ) private {
        emit TokenCreated({
            msgSender: msg.sender,
            tokenAddress: token,
            tokenAdmin: config.tokenConfig.tokenAdmin,
            tokenImage: config.tokenConfig.image,
            tokenName: config.tokenConfig.name,
            tokenSymbol: config.tokenConfig.symbol,
            tokenMetadata: config.tokenConfig.metadata,
            tokenContext: config.tokenConfig.context,
            startingTick: config.poolConfig.tickIfToken0IsClanker,
            poolHook: config.poolConfig.hook,
            poolId: poolId,
            pairedToken: config.poolConfig.pairedToken,
            locker: config.lockerConfig.locker,
            mevModule: config.mevModuleConfig.mevModule,
            extensionsSupply: extensionsSupply,
            extensions: extensions
        });
    }
}
