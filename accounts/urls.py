"""The endpoints of administrators."""

from accounts.views.administration import AdminVerifyView
from config.api.routing import endpoint

urlpatterns = [endpoint("admin/verify", AdminVerifyView.as_view(), name="admin-verify")]
