"""Django's pages for the operators' own accounts and roles, in the dress of the others."""

from typing import TYPE_CHECKING

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

if TYPE_CHECKING:
    DjangoUserAdmin = UserAdmin[User]
else:
    # Django's own class takes no type parameter when it runs.
    DjangoUserAdmin = UserAdmin

admin.site.unregister(User)
admin.site.unregister(Group)
# django-otp's own pages show secrets, and make devices that their owner has never seen.
admin.site.unregister(TOTPDevice)


@admin.register(User)
class OperatorAdmin(DjangoUserAdmin, ModelAdmin):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_per_page = 50


@admin.register(Group)
class RoleAdmin(GroupAdmin, ModelAdmin):
    list_per_page = 50
