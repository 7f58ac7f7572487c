"""URLs for users' profiles, the administrators' endpoint, events and webhooks."""

from accounts.administrators.views import AdminVerifyView
from accounts.profiles.views import UserByAddressView, UserByFidView, UserByNameView, UsersByFidsView
from accounts.subscriptions.views import (
    EventsView,
    WebhookDeliveriesView,
    WebhookReplayView,
    WebhookRotationView,
    WebhooksView,
    WebhookTestView,
    WebhookView,
)
from accounts.users.views import SignInNonceView, SignInView
from config.web.routing import endpoint

urlpatterns = [
    endpoint("get-user-by-fid", UserByFidView.as_view(), name="user-by-fid"),
    endpoint("get-user-by-address", UserByAddressView.as_view(), name="user-by-address"),
    endpoint("get-user-by-name", UserByNameView.as_view(), name="user-by-name"),
    endpoint("get-multiple-users-by-fid", UsersByFidsView.as_view(), name="users-by-fids"),
    endpoint("admin/verify", AdminVerifyView.as_view(), name="admin-verify"),
    endpoint("sign-in/nonce", SignInNonceView.as_view(), name="sign-in-nonce"),
    endpoint("sign-in", SignInView.as_view(), name="sign-in"),
    endpoint("events", EventsView.as_view(), name="events"),
    endpoint("webhooks", WebhooksView.as_view(), name="webhooks"),
    endpoint("webhooks/<str:id>", WebhookView.as_view(), name="webhook"),
    endpoint("webhooks/<str:id>/test", WebhookTestView.as_view(), name="webhook-test"),
    endpoint("webhooks/<str:id>/rotate", WebhookRotationView.as_view(), name="webhook-rotate"),
    endpoint("webhooks/<str:id>/deliveries", WebhookDeliveriesView.as_view(), name="webhook-deliveries"),
    endpoint("webhooks/<str:id>/replay", WebhookReplayView.as_view(), name="webhook-replay"),
]
