"""The token endpoints, in the contract's order."""

from config.api.routing import endpoint
from tokens.views.indexing import IndexTransactionView
from tokens.views.listing import TokenListView
from tokens.views.lookup import TokenByAddressView, TokenByPoolView, TokensByPoolsView

urlpatterns = [
    endpoint("tokens", TokenListView.as_view(), name="token-list"),
    endpoint("tokens/fetch-by-pool-address", TokenByPoolView.as_view(), name="token-by-pool"),
    endpoint("tokens/fetch-by-pool-addresses", TokensByPoolsView.as_view(), name="tokens-by-pools"),
    endpoint("get-token-by-address", TokenByAddressView.as_view(), name="token-by-address"),
    endpoint("tokens/index", IndexTransactionView.as_view(), name="token-index"),
]
