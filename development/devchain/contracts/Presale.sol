// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    DeploymentConfig,
    ExtensionConfig,
    IExtension,
    IFactory,
    IPresaleAllowlist,
    Payments,
    PoolKey,
    Unauthorized
} from "./Interfaces.sol";
import {Vesting} from "./Vesting.sol";

/// Sells a part of a launch's supply for native currency before the launch, which it then makes itself.
contract Presale is IExtension {
    using Payments for address;

    enum PresaleStatus {
        NotCreated,
        Active,
        SuccessfulMinimumHit,
        SuccessfulMaximumHit,
        Failed,
        Claimable
    }

    struct PresaleInfo {
        PresaleStatus status;
        DeploymentConfig deploymentConfig;
        address allowlist;
        address presaleOwner;
        uint256 minEthGoal;
        uint256 maxEthGoal;
        uint256 endTime;
        address deployedToken;
        uint256 ethRaised;
        uint256 tokenSupply;
        bool deploymentExpected;
        bool ethClaimed;
        uint256 lockupDuration;
        uint256 vestingDuration;
        uint256 lockupEndTime;
        uint256 vestingEndTime;
        uint256 clankerFee;
    }

    event PresaleStarted(
        uint256 presaleId,
        address allowlist,
        DeploymentConfig deploymentConfig,
        uint256 minEthGoal,
        uint256 maxEthGoal,
        uint256 presaleDuration,
        address presaleOwner,
        uint256 lockupDuration,
        uint256 vestingDuration,
        uint256 clankerFeeBps
    );
    event PresaleBuy(uint256 indexed presaleId, address buyer, uint256 ethToUse, uint256 ethRaised);
    event WithdrawFromPresale(uint256 indexed presaleId, address withdrawer, uint256 amount, uint256 ethRaised);
    event PresaleDeployed(uint256 indexed presaleId, address token);
    event PresaleFailed(uint256 indexed presaleId);
    event ClaimTokens(uint256 indexed presaleId, address claimer, uint256 tokenAmount);
    event ClaimEth(uint256 indexed presaleId, address recipient, uint256 ethAmount, uint256 fee);
    event SetAdmin(address indexed admin, bool enabled);
    event SetAllowlist(address allowlist, bool enabled);

    error AllowlistAmountExceeded(uint256 allowedAmount);
    error AllowlistNotEnabled();
    error EthTransferFailed();
    error InsufficientBalance();
    error InvalidEthGoal();
    error InvalidMsgValue();
    error InvalidPresale();
    error InvalidPresaleDuration();
    error InvalidPresaleOwner();
    error InvalidPresaleSupply();
    error LockupDurationTooShort();
    error NoTokensToClaim();
    error NotExpectingTokenDeployment();
    error PresaleAlreadyClaimed();
    error PresaleLockupNotPassed();
    error PresaleNotActive();
    error PresaleNotClaimable();
    error PresaleNotLastExtension();
    error PresaleNotReadyForDeployment();
    error PresaleSaltBufferNotExpired();
    error PresaleSuccessful();

    uint256 public constant BPS = 10_000;
    uint256 public constant MAX_PRESALE_DURATION = 6 weeks;
    /// How long after the sale the owner alone may launch, with the salt that he likes.
    uint256 public constant SALT_SET_BUFFER = 1 days;
    /// How long after the sale a launch may come; then buyers get their payments back.
    uint256 public constant DEPLOYMENT_BAD_BUFFER = 3 days;

    address public immutable owner;
    address public immutable factory;
    address public immutable clankerFeeRecipient;
    uint256 public constant minLockupDuration = 7 days;
    uint256 public constant clankerDefaultFeeBps = 500;
    mapping(address account => bool) public admins;
    mapping(address allowlist => bool enabled) public enabledAllowlists;
    mapping(uint256 presaleId => PresaleInfo) public presaleState;
    mapping(uint256 presaleId => mapping(address user => uint256 amount)) public presaleBuys;
    /// How much of a buyer's payment he has already got tokens for.
    mapping(uint256 presaleId => mapping(address user => uint256 amount)) public presaleClaimed;
    uint256 private _lastId;

    constructor(address owner_, address factory_, address clankerFeeRecipient_) {
        owner = owner_;
        factory = factory_;
        clankerFeeRecipient = clankerFeeRecipient_;
    }

    modifier onlyOwner() {
        if (msg.sender != owner) revert Unauthorized();
        _;
    }

    modifier presaleExists(uint256 presaleId) {
        if (presaleState[presaleId].status == PresaleStatus.NotCreated) revert InvalidPresale();
        _;
    }

    function setAdmin(address admin, bool enabled) external onlyOwner {
        admins[admin] = enabled;
        emit SetAdmin(admin, enabled);
    }

    function setAllowlist(address allowlist, bool enabled) external onlyOwner {
        enabledAllowlists[allowlist] = enabled;
        emit SetAllowlist(allowlist, enabled);
    }

    function getPresale(uint256 presaleId_) external view returns (PresaleInfo memory) {
        return presaleState[presaleId_];
    }

    function startPresale(
        DeploymentConfig memory deploymentConfig,
        uint256 minEthGoal,
        uint256 maxEthGoal,
        uint256 presaleDuration,
        address presaleOwner,
        uint256 lockupDuration,
        uint256 vestingDuration,
        address allowlist,
        bytes calldata allowlistInitializationData
    ) external returns (uint256 presaleId) {
        if (!admins[msg.sender]) revert Unauthorized();
        if (presaleOwner == address(0)) revert InvalidPresaleOwner();
        uint256 count = deploymentConfig.extensionConfigs.length;
        if (count == 0) revert PresaleNotLastExtension();
        ExtensionConfig memory own = deploymentConfig.extensionConfigs[count - 1];
        if (own.extension != address(this)) revert PresaleNotLastExtension();
        if (own.extensionBps == 0) revert InvalidPresaleSupply();
        if (own.msgValue != 0) revert InvalidMsgValue();
        if (maxEthGoal == 0 || minEthGoal > maxEthGoal) revert InvalidEthGoal();
        if (presaleDuration == 0 || presaleDuration > MAX_PRESALE_DURATION) revert InvalidPresaleDuration();
        if (lockupDuration < minLockupDuration) revert LockupDurationTooShort();

        presaleId = ++_lastId;
        if (allowlist != address(0)) {
            if (!enabledAllowlists[allowlist]) revert AllowlistNotEnabled();
            IPresaleAllowlist(allowlist).initialize(presaleId, presaleOwner, allowlistInitializationData);
        }
        own.extensionData = abi.encode(presaleId);
        PresaleInfo storage sale = presaleState[presaleId];
        sale.status = PresaleStatus.Active;
        sale.deploymentConfig = deploymentConfig;
        sale.allowlist = allowlist;
        sale.presaleOwner = presaleOwner;
        sale.minEthGoal = minEthGoal;
        sale.maxEthGoal = maxEthGoal;
        sale.endTime = block.timestamp + presaleDuration;
        sale.lockupDuration = lockupDuration;
        sale.vestingDuration = vestingDuration;
        sale.clankerFee = clankerDefaultFeeBps;
        emit PresaleStarted(
            presaleId,
            allowlist,
            deploymentConfig,
            minEthGoal,
            maxEthGoal,
            presaleDuration,
            presaleOwner,
            lockupDuration,
            vestingDuration,
            clankerDefaultFeeBps
        );
    }

    function buyIntoPresale(uint256 presaleId) external payable {
        _buy(presaleId, "");
    }

    function buyIntoPresaleWithProof(uint256 presaleId, bytes calldata proof) external payable {
        _buy(presaleId, proof);
    }

    /// Takes a payment back while the sale runs, or after it has failed.
    function withdrawFromPresale(uint256 presaleId, uint256 amount, address recipient)
        external
        presaleExists(presaleId)
    {
        _settle(presaleId);
        PresaleInfo storage sale = presaleState[presaleId];
        if (sale.status != PresaleStatus.Active && sale.status != PresaleStatus.Failed) revert PresaleSuccessful();
        if (presaleBuys[presaleId][msg.sender] < amount) revert InsufficientBalance();
        presaleBuys[presaleId][msg.sender] -= amount;
        sale.ethRaised -= amount;
        _send(recipient, amount);
        emit WithdrawFromPresale(presaleId, msg.sender, amount, sale.ethRaised);
    }

    /// Launches with this salt: the owner as soon as the lower goal is reached, anybody a while after the sale.
    /// Where nobody did in time, it lets the sale fail instead, and returns the zero address.
    function endPresale(uint256 presaleId, bytes32 salt)
        external
        presaleExists(presaleId)
        returns (address token)
    {
        _settle(presaleId);
        PresaleInfo storage sale = presaleState[presaleId];
        bool early = sale.status == PresaleStatus.Active && msg.sender == sale.presaleOwner
            && sale.ethRaised >= sale.minEthGoal;
        bool over = sale.status == PresaleStatus.SuccessfulMinimumHit
            || sale.status == PresaleStatus.SuccessfulMaximumHit;
        if (!early && !over) revert PresaleNotReadyForDeployment();
        if (block.timestamp > sale.endTime + DEPLOYMENT_BAD_BUFFER) {
            sale.status = PresaleStatus.Failed;
            emit PresaleFailed(presaleId);
            return address(0);
        }
        if (msg.sender != sale.presaleOwner && block.timestamp < sale.endTime + SALT_SET_BUFFER) {
            revert PresaleSaltBufferNotExpired();
        }
        sale.deploymentConfig.tokenConfig.salt = salt;
        sale.lockupEndTime = block.timestamp + sale.lockupDuration;
        sale.vestingEndTime = sale.lockupEndTime + sale.vestingDuration;
        sale.deploymentExpected = true;
        token = IFactory(factory).deployToken(sale.deploymentConfig);
        emit PresaleDeployed(presaleId, token);
    }

    /// Called by the factory within a launch: only within one that `endPresale` makes.
    function receiveTokens(
        DeploymentConfig calldata config,
        PoolKey calldata,
        address token,
        uint256 extensionSupply,
        uint256 extensionIndex
    ) external payable {
        if (msg.sender != factory) revert Unauthorized();
        ExtensionConfig calldata item = config.extensionConfigs[extensionIndex];
        PresaleInfo storage sale = presaleState[abi.decode(item.extensionData, (uint256))];
        if (item.msgValue != 0 || msg.value != 0) revert InvalidMsgValue();
        if (!sale.deploymentExpected) revert NotExpectingTokenDeployment();
        sale.deploymentExpected = false;
        sale.deployedToken = token;
        sale.tokenSupply = extensionSupply;
        sale.status = PresaleStatus.Claimable;
        token.pull(msg.sender, extensionSupply);
    }

    /// What `user` may claim now, in the launched token.
    function amountAvailableToClaim(uint256 presaleId, address user)
        external
        view
        presaleExists(presaleId)
        returns (uint256)
    {
        PresaleInfo storage sale = presaleState[presaleId];
        if (sale.status != PresaleStatus.Claimable) return 0;
        return sale.tokenSupply * _claimable(presaleId, user) / sale.ethRaised;
    }

    function claimTokens(uint256 presaleId) external presaleExists(presaleId) {
        PresaleInfo storage sale = presaleState[presaleId];
        if (sale.status != PresaleStatus.Claimable) revert PresaleNotClaimable();
        if (block.timestamp < sale.lockupEndTime) revert PresaleLockupNotPassed();
        uint256 paid = _claimable(presaleId, msg.sender);
        presaleClaimed[presaleId][msg.sender] += paid;
        uint256 amount = sale.tokenSupply * paid / sale.ethRaised;
        if (amount == 0) revert NoTokensToClaim();
        sale.deployedToken.pay(msg.sender, amount);
        emit ClaimTokens(presaleId, msg.sender, amount);
    }

    /// Pays the owner what was raised, less the launchpad's fee.
    function claimEth(uint256 presaleId, address recipient) external presaleExists(presaleId) {
        PresaleInfo storage sale = presaleState[presaleId];
        if (msg.sender != sale.presaleOwner) revert Unauthorized();
        if (sale.status != PresaleStatus.Claimable) revert PresaleNotClaimable();
        if (sale.ethClaimed) revert PresaleAlreadyClaimed();
        sale.ethClaimed = true;
        uint256 fee = sale.ethRaised * sale.clankerFee / BPS;
        _send(recipient, sale.ethRaised - fee);
        _send(clankerFeeRecipient, fee);
        emit ClaimEth(presaleId, recipient, sale.ethRaised - fee, fee);
    }

    function _buy(uint256 presaleId, bytes memory proof) private presaleExists(presaleId) {
        PresaleInfo storage sale = presaleState[presaleId];
        if (sale.status != PresaleStatus.Active || block.timestamp >= sale.endTime) revert PresaleNotActive();
        uint256 room = sale.maxEthGoal - sale.ethRaised;
        uint256 used = msg.value < room ? msg.value : room;
        presaleBuys[presaleId][msg.sender] += used;
        if (sale.allowlist != address(0)) {
            uint256 allowed =
                IPresaleAllowlist(sale.allowlist).getAllowedAmountForBuyer(presaleId, msg.sender, proof);
            if (presaleBuys[presaleId][msg.sender] > allowed) revert AllowlistAmountExceeded(allowed);
        }
        sale.ethRaised += used;
        if (used == room) sale.status = PresaleStatus.SuccessfulMaximumHit;
        _send(msg.sender, msg.value - used);
        emit PresaleBuy(presaleId, msg.sender, used, sale.ethRaised);
    }

    /// What time alone decides, nobody has written down yet.
    function _settle(uint256 presaleId) private {
        PresaleInfo storage sale = presaleState[presaleId];
        if (sale.status != PresaleStatus.Active || block.timestamp < sale.endTime) return;
        sale.status = sale.ethRaised < sale.minEthGoal ? PresaleStatus.Failed : PresaleStatus.SuccessfulMinimumHit;
    }

    function _claimable(uint256 presaleId, address user) private view returns (uint256) {
        PresaleInfo storage sale = presaleState[presaleId];
        return Vesting.unlocked(presaleBuys[presaleId][user], sale.lockupEndTime, sale.vestingEndTime)
            - presaleClaimed[presaleId][user];
    }

    function _send(address to, uint256 amount) private {
        if (amount == 0) return;
        (bool sent,) = to.call{value: amount}("");
        if (!sent) revert EthTransferFailed();
    }
}
