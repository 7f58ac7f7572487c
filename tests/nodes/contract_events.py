"""Events as their contracts declare them, for `log_encoding.emit`. The product's own ABI files are not used here."""

# ERC-20, ERC-721 and ERC-6909.
TRANSFER = "Transfer(address indexed,address indexed,uint256)"
NFT_TRANSFER = "Transfer(address indexed,address indexed,uint256 indexed)"
CLAIM_TRANSFER = "Transfer(address,address indexed,address indexed,uint256 indexed,uint256)"

# Uniswap v3.
V3_POOL_CREATED = "PoolCreated(address indexed,address indexed,uint24 indexed,int24,address)"
V3_INITIALIZE = "Initialize(uint160,int24)"
V3_MINT = "Mint(address,address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256)"
V3_BURN = "Burn(address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256)"
V3_SWAP = "Swap(address indexed,address indexed,int256,int256,uint160,uint128,int24)"

# Uniswap v4's PoolManager.
V4_INITIALIZE = "Initialize(bytes32 indexed,address indexed,address indexed,uint24,int24,address,uint160,int24)"
V4_SWAP = "Swap(bytes32 indexed,address indexed,int128,int128,uint160,uint128,int24,uint24)"
V4_LIQUIDITY = "ModifyLiquidity(bytes32 indexed,address indexed,int24,int24,int256,bytes32)"

# The launchpad's launches, by generation.
V0_CREATED = "TokenCreated(address,uint256,address,string,string,uint256,uint256,address)"
V1_CREATED = "TokenCreated(address,uint256,address,uint256,string,string,uint256,address,string)"
V3_CREATED = "TokenCreated(address,uint256,address,uint256,string,string,uint256,string)"
V31_CREATED = (
    "TokenCreated(address indexed,address indexed,address indexed,address,address,uint256,string,string,int24,string,"
    "uint256,uint256,uint8,address)"
)
V4_CREATED = (
    "TokenCreated(address,address indexed,address indexed,string,string,string,string,string,int24,address,bytes32,"
    "address,address,address,uint256,address[])"
)
V4_REWARD_ADDED = (
    "TokenRewardAdded(address,(address,address,uint24,int24,address),uint256,uint256,uint256,uint16[],address[],"
    "address[],int24[],int24[],uint16[])"
)
V31_REWARD_ADDED = "TokenRewardAdded(uint256,uint256,address indexed,address indexed)"
PREFERENCES_SET = "InitialFeePreferences(address indexed,uint8[])"
STATIC_POOL = "PoolInitialized(bytes32,uint24,uint24)"
SNIPER_FEES = "FeeConfigSet(bytes32,uint24,uint24,uint256)"
V4_VAULTED = "AllocationCreated(address indexed,address indexed,uint256,uint256,uint256)"
AIRDROPPED = "AirdropCreated(address indexed,address indexed,bytes32,uint256,uint256,uint256)"
FIRST_AIRDROPPED = "AirdropCreated(address indexed,bytes32,uint256,uint256,uint256)"
DEV_BOUGHT = "EthDevBuy(address indexed,address indexed,uint256,uint256)"
PRESALE_DEPLOYED = "PresaleDeployed(uint256 indexed,address)"

# Events after launch, whose arguments are stored by these names.
UPDATE_ADMIN = "UpdateAdmin(address indexed oldAdmin, address indexed newAdmin)"
UPDATE_IMAGE = "UpdateImage(string image)"
UPDATE_METADATA = "UpdateMetadata(string metadata)"
VERIFIED = "Verified(address indexed admin, address indexed token)"
RECIPIENT_UPDATED = (
    "RewardRecipientUpdated(address indexed token, uint256 indexed rewardIndex, address oldRecipient,"
    " address newRecipient)"
)
REWARD_ADMIN_UPDATED = (
    "RewardAdminUpdated(address indexed token, uint256 indexed rewardIndex, address oldAdmin, address newAdmin)"
)
PREFERENCE_UPDATED = (
    "FeePreferenceUpdated(address indexed token, uint256 indexed rewardIndex, uint8 oldFeePreference,"
    " uint8 indexed newFeePreference)"
)
COLLECTED = (
    "ClaimedRewards(address indexed token, uint256 amount0, uint256 amount1, uint256[] rewards0, uint256[] rewards1)"
)
V31_CLAIMED = (
    "ClaimedRewards(uint256 indexed lpTokenId, address indexed creatorRecipient, address indexed interfaceRecipient,"
    " address teamRecipient, address token0, address token1, uint256 creatorReward0, uint256 creatorReward1,"
    " uint256 interfaceReward0, uint256 interfaceReward1, uint256 teamReward0, uint256 teamReward1)"
)
# ClaimedFees in v0, ClaimedRewards in v2.
FIRST_CLAIMED = (
    "%s(address indexed claimer, address indexed token0, address indexed token1, uint256 amount0, uint256 amount1,"
    " uint256 total0, uint256 total1)"
)
CLAIM_TOKENS = "ClaimTokens(address indexed feeOwner, address indexed token, uint256 amountClaimed)"
CLAIM_TEAM_FEES = "ClaimTeamFees(address indexed token, address indexed recipient, uint256 amount)"
STORE_TOKENS = (
    "StoreTokens(address indexed sender, address indexed feeOwner, address indexed token, uint256 balance,"
    " uint256 amount)"
)
FEES_SWAPPED = (
    "FeesSwapped(address indexed token, address indexed rewardToken, uint256 amountSwapped,"
    " address indexed swappedToken, uint256 amountOut)"
)
VAULT_CLAIMED = "AllocationClaimed(address indexed token, uint256 amount, uint256 remainingAmount)"
VAULT_ADMIN_UPDATED = (
    "AllocationAdminUpdated(address indexed token, address indexed oldAdmin, address indexed newAdmin)"
)
AIRDROP_CLAIMED = (
    "AirdropClaimed(address indexed token, address indexed user, uint256 totalUserAmountClaimed,"
    " uint256 userAmountStillLocked)"
)
AIRDROP_ROOT_UPDATED = "AirdropMerkleRootUpdated(address indexed token, bytes32 oldMerkleRoot, bytes32 newMerkleRoot)"
AIRDROP_ADMIN_UPDATED = "AirdropAdminUpdated(address indexed token, address indexed oldAdmin, address indexed newAdmin)"
