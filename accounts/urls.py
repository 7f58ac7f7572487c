"""URLs of the administrators' endpoint."""

from accounts.administrators.views import AdminVerifyView
from config.api.routing import endpoint

urlpatterns = [endpoint("admin/verify", AdminVerifyView.as_view(), name="admin-verify")]
