"""The pages of the second factor, within the admin site's addresses."""

from django.urls import path

from accounts.operators import views

urlpatterns = [
    path("", views.ask, name="second-factor"),
    path("set-up/", views.set_up, name="second-factor-set-up"),
    path("remove/", views.remove, name="second-factor-remove"),
]
