"""Pretoken endpoint URLs, in the contract's order."""

from config.web.routing import endpoint
from pretokens.views import PendingPretokensView, PretokenCreationView, PretokenView

urlpatterns = [
    endpoint("pretoken/v4", PretokenCreationView.as_view(), name="pretoken-create"),
    endpoint("pretoken/pending", PendingPretokensView.as_view(), name="pretokens-pending"),
    endpoint("pretoken/<str:id>", PretokenView.as_view(), name="pretoken"),
]
