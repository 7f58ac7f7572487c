"""The operators' pages for social profiles."""

from django.contrib import admin

from accounts.models import SocialProfile
from config.operators.admin_pages import ReadRows


@admin.register(SocialProfile)
class SocialProfileAdmin(ReadRows):
    """What the provider tells: nobody adds, changes or deletes it by hand."""

    list_display = ["fid", "username", "display_name", "score", "fetched_at", "due_at", "misses"]
    search_fields = ["=fid", "=username"]
    search_help_text = "A whole FID or user name."
    ordering = ["-fid"]
