"""The pages of the second factor, within the admin site's addresses."""

from django.urls import path

from accounts.views import second_factor

urlpatterns = [
    path("", second_factor.ask, name="second-factor"),
    path("set-up/", second_factor.set_up, name="second-factor-set-up"),
    path("remove/", second_factor.remove, name="second-factor-remove"),
]
