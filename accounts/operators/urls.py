"""URLs for the second factor's pages, below /admin/."""

from django.urls import path

from accounts.operators import views

urlpatterns = [
    path("", views.enter_code, name="second-factor"),
    path("set-up/", views.set_up_device, name="second-factor-set-up"),
    path("remove/", views.remove_device, name="second-factor-remove"),
]
