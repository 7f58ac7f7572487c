"""URLs of the token endpoints, in the contract's order."""

from config.web.routing import endpoint
from tokens.catalogue.views import (
    DeployedByAddressView,
    DeployedByFidView,
    PartnerTokenListView,
    PartnerTokensByFidView,
    TokenBlockedView,
    TokenByAddressView,
    TokenByPoolView,
    TokenListView,
    TokenRecordView,
    TokensByAdminView,
    TokensByPoolsView,
    TokenSearchView,
    TokenStreamView,
)
from tokens.deploying.sales.views import (
    AllowlistProofView,
    AllowlistView,
    PresalesView,
    SavedAllowlistsView,
    SavedAllowlistView,
)
from tokens.deploying.views import (
    AirdropClaimView,
    AirdropsView,
    AllocationsView,
    DeployStatusView,
    DeployV4View,
    DeployView,
    SavedAirdropsView,
    SavedAirdropView,
)
from tokens.fees.views import ClaimedFeesView, ClaimInfoView, LpInfoView, RewardsEstimateView, UncollectedFeesView
from tokens.indexing.views import IndexByAddressView, IndexTransactionView, SaveDeployedTokenView
from tokens.installation.views import ContractsView, FactoriesView
from tokens.integrity.views import TokenIntegrityView
from tokens.ledger.views import CreatorSearchView, CreatorView
from tokens.market.trading.views import TokenCandlesView, TokenTradesView
from tokens.market.views import MarketCapsView, MarketCapView, TrendingView
from tokens.site.views.status_endpoint import StatusView
from tokens.transactions.views import VIEWS as TRANSACTION_VIEWS
from tokens.uploads.views import MetadataView, PicturesView

urlpatterns = [
    endpoint("tokens", TokenListView.as_view(), name="token-list"),
    endpoint("tokens/trending", TrendingView.as_view(), name="token-trending"),
    endpoint("tokens/marketcap", MarketCapsView.as_view(), name="market-caps"),
    endpoint("marketcap", MarketCapView.as_view(), name="market-cap"),
    endpoint("metadata/factories", FactoriesView.as_view(), name="factories"),
    endpoint("metadata/contracts", ContractsView.as_view(), name="contracts"),
    endpoint("tokens/stream", TokenStreamView.as_view(), name="token-stream"),
    endpoint("tokens/fetch-deployed-by-fid", DeployedByFidView.as_view(), name="deployed-by-fid"),
    endpoint("tokens/fetch-deployed-by-address", DeployedByAddressView.as_view(), name="deployed-by-address"),
    endpoint("tokens/fetch-by-pool-address", TokenByPoolView.as_view(), name="token-by-pool"),
    endpoint("tokens/fetch-by-pool-addresses", TokensByPoolsView.as_view(), name="tokens-by-pools"),
    endpoint("tokens/search", TokenSearchView.as_view(), name="token-search"),
    endpoint("tokens/estimate-rewards-by-pool-address", RewardsEstimateView.as_view(), name="token-rewards-estimate"),
    endpoint("tokens/authenticated", PartnerTokenListView.as_view(), name="token-list-authenticated"),
    endpoint("get-token-by-address", TokenByAddressView.as_view(), name="token-by-address"),
    endpoint("get-tokens-by-fid", PartnerTokensByFidView.as_view(), name="tokens-by-fid"),
    endpoint("tokens/fetch-by-admin", TokensByAdminView.as_view(), name="tokens-by-admin"),
    endpoint("tokens/is-blocked", TokenBlockedView.as_view(), name="token-blocked"),
    endpoint("get-lp-info/<str:address>", LpInfoView.as_view(), name="lp-info"),
    endpoint("get-claimed-fees/<str:tokenAddress>/<str:feeRecipient>", ClaimedFeesView.as_view(), name="claimed-fees"),
    endpoint("get-claim-info", ClaimInfoView.as_view(), name="claim-info"),
    endpoint("tokens/index", IndexTransactionView.as_view(), name="token-index"),
    endpoint("tokens/index-by-address", IndexByAddressView.as_view(), name="token-index-by-address"),
    endpoint("tokens/deploy", DeployView.as_view(), name="deploy"),
    endpoint("tokens/deploy/v4", DeployV4View.as_view(), name="deploy-v4"),
    endpoint("tokens/deploy/status/<path:requestKey>", DeployStatusView.as_view(), name="deploy-status"),
    endpoint("tokens/save-deployed-token/from-ui", SaveDeployedTokenView.as_view(), name="save-deployed-token"),
    endpoint("get-uncollected-fees/<str:address>", UncollectedFeesView.as_view(), name="uncollected-fees"),
    endpoint("creators/<str:creator>", CreatorView.as_view(), name="creator"),
    endpoint("search-creator", CreatorSearchView.as_view(), name="search-creator"),
    endpoint("airdrops", AirdropsView.as_view(), name="airdrops"),
    endpoint("airdrops/allocations", AllocationsView.as_view(), name="airdrop-allocations"),
    endpoint("airdrops/saved", SavedAirdropsView.as_view(), name="saved-airdrops"),
    endpoint("airdrops/saved/<str:id>", SavedAirdropView.as_view(), name="saved-airdrop"),
    endpoint("airdrops/claim", AirdropClaimView.as_view(), name="airdrop-claim"),
    endpoint("uploads/pictures", PicturesView.as_view(), name="upload-picture"),
    endpoint("uploads/metadata", MetadataView.as_view(), name="upload-metadata"),
    endpoint("presales", PresalesView.as_view(), name="presales"),
    endpoint("presales/allowlists", AllowlistView.as_view(), name="presale-allowlist"),
    endpoint("presales/allowlists/proof", AllowlistProofView.as_view(), name="presale-allowlist-proof"),
    endpoint("presales/allowlists/saved", SavedAllowlistsView.as_view(), name="saved-allowlists"),
    endpoint("presales/allowlists/saved/<str:id>", SavedAllowlistView.as_view(), name="saved-allowlist"),
    *(
        endpoint(f"transactions/{name}", view.as_view(), name=f"transaction-{name}")
        for name, view in TRANSACTION_VIEWS.items()
    ),
    endpoint("status", StatusView.as_view(), name="chain-status"),
    # After all paths that begin alike.
    endpoint("tokens/<str:chainId>/<str:address>", TokenRecordView.as_view(), name="token-record"),
    endpoint("tokens/<str:chainId>/<str:address>/trades", TokenTradesView.as_view(), name="token-trades"),
    endpoint("tokens/<str:chainId>/<str:address>/candles", TokenCandlesView.as_view(), name="token-candles"),
    endpoint("tokens/<str:chainId>/<str:address>/integrity", TokenIntegrityView.as_view(), name="token-integrity"),
]
