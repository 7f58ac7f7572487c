// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// The structs and calls that the development contracts share. Field order is the order in calldata of generation v4:
/// selectors and event topics depend on it.

struct TokenConfig {
    address tokenAdmin;
    string name;
    string symbol;
    bytes32 salt;
    string image;
    string metadata;
    string context;
    uint256 originatingChainId;
}

struct PoolConfig {
    address hook;
    address pairedToken;
    int24 tickIfToken0IsClanker;
    int24 tickSpacing;
    bytes poolData;
}

struct LockerConfig {
    address locker;
    address[] rewardAdmins;
    address[] rewardRecipients;
    uint16[] rewardBps;
    int24[] tickLower;
    int24[] tickUpper;
    uint16[] positionBps;
    bytes lockerData;
}

struct MevModuleConfig {
    address mevModule;
    bytes mevModuleData;
}

struct ExtensionConfig {
    address extension;
    uint256 msgValue;
    uint16 extensionBps;
    bytes extensionData;
}

struct DeploymentConfig {
    TokenConfig tokenConfig;
    PoolConfig poolConfig;
    LockerConfig lockerConfig;
    MevModuleConfig mevModuleConfig;
    ExtensionConfig[] extensionConfigs;
}

/// A Uniswap v4 pool key; its keccak256(abi.encode(..)) is the pool's id.
struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

/// The fees of a swap, where 1_000_000 is the whole: the positions', in the currency paid, and the launchpad's, in the
/// paired token.
struct SwapFees {
    uint24 lpFee;
    uint24 protocolFee;
    bool paysPaired;
}

/// A swap within a lock, as Uniswap v4 has it.
struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

interface IUnlockCallback {
    function unlockCallback(bytes calldata data) external returns (bytes memory);
}

interface IERC20 {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
    function approve(address spender, uint256 amount) external returns (bool);
}

interface IWrappedNative is IERC20 {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

interface IFactory {
    function deployToken(DeploymentConfig calldata config) external payable returns (address);
}

interface IHook {
    function initializePool(
        address token,
        address pairedToken,
        int24 tickIfToken0IsClanker,
        int24 tickSpacing,
        address locker,
        address mevModule,
        bytes calldata poolData
    ) external returns (PoolKey memory);
    function swapFees(bytes32 poolId, bool zeroForOne) external view returns (SwapFees memory);
    function factory() external view returns (address);
    function announceClaim(address currency, uint256 amount) external;
}

interface ILocker {
    function placeLiquidity(
        LockerConfig calldata lockerConfig,
        PoolConfig calldata poolConfig,
        PoolKey calldata poolKey,
        uint256 poolSupply,
        address token
    ) external returns (uint256 positionId);
}

interface IFeeLocker {
    function storeFees(address feeOwner, address token, uint256 amount) external;
}

interface IExtension {
    function receiveTokens(
        DeploymentConfig calldata config,
        PoolKey calldata poolKey,
        address token,
        uint256 extensionSupply,
        uint256 extensionIndex
    ) external payable;
}

interface IPresaleAllowlist {
    function initialize(uint256 presaleId, address presaleOwner, bytes calldata initializationData) external;
    function getAllowedAmountForBuyer(uint256 presaleId, address buyer, bytes calldata proof)
        external
        view
        returns (uint256);
}

interface IMevModule {
    function initialize(PoolKey calldata poolKey, bytes calldata mevModuleData) external;
}

interface IPoolManager {
    function initialize(PoolKey calldata key, int24 tick) external returns (bytes32 id);
    function modifyLiquidity(PoolKey calldata key, int24 tickLower, int24 tickUpper, uint256 amount0, uint256 amount1, uint256 salt)
        external;
    function swap(PoolKey calldata key, address currencyIn, uint256 amountIn, address recipient)
        external
        returns (uint256 amountOut);
    function accrueFees(PoolKey calldata key, uint256 amount0, uint256 amount1, address launchedToken) external;
    function collectFees(PoolKey calldata key, address recipient) external returns (uint256 amount0, uint256 amount1);
}

interface ISwapRouter {
    function swapTokens(PoolKey calldata key, address currencyIn, uint256 amountIn, address recipient)
        external
        returns (uint256 amountOut);
}

interface IPositionManager {
    function mint(PoolKey calldata key, int24 tickLower, int24 tickUpper, address token, uint256 amount)
        external
        returns (uint256 id);
    function touch(PoolKey calldata key, uint256 id) external;
}

error Unauthorized();
error TransferFailed();

/// ERC-20 calls of which the answer is checked, so that a token that answers `false` cannot pass as a payment.
library Payments {
    function pay(address token, address to, uint256 amount) internal {
        if (!IERC20(token).transfer(to, amount)) revert TransferFailed();
    }

    function pull(address token, address from, uint256 amount) internal {
        if (!IERC20(token).transferFrom(from, address(this), amount)) revert TransferFailed();
    }
}
