"""Form field for a moment, entered as date and time in the operator's zone.

The page contains the zone and the moment that it shows. So a form that is submitted after a zone change means what was
shown. A moment that was not edited keeps its value, also in the hour that occurs twice.
"""

from datetime import UTC, datetime, tzinfo
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminSplitDateTimeWidget

from config.operators.local_times import find_zone, zone_name


class LocalDateTimeWidget(UnfoldAdminSplitDateTimeWidget):
    """Inputs for date and time, and a hidden one with the zone and the moment that they show."""

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        # A rejected form is shown as it was submitted.
        hidden_value = value[2] if isinstance(value, list) else _format_shown(value)
        inputs = super().render(name, value, attrs, renderer)
        return format_html('{}<input type="hidden" name="{}_shown" value="{}">', inputs, name, hidden_value)

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[Any]:
        return [*super().value_from_datadict(data, files, name), data.get(f"{name}_shown", "")]


class LocalDateTimeField(forms.SplitDateTimeField):
    """Moment in the time zone that the page showed with the form."""

    widget = LocalDateTimeWidget

    def clean(self, value: Any) -> datetime | None:
        texts, (zone, moment) = list(value[:2]), _parse_shown(value[2])
        with timezone.override(zone or timezone.get_current_timezone()):
            if moment is not None and self._parse(texts) == self.widget.decompress(moment):
                return moment
            moment_entered: datetime | None = super().clean(texts)
            return moment_entered

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.clean(data) != initial)
        except forms.ValidationError:
            return True

    def _parse(self, texts: list[Any]) -> list[Any] | None:
        try:
            return [field.to_python(text) for field, text in zip(self.fields, texts, strict=True)]
        except forms.ValidationError:
            return None


def _format_shown(moment: datetime | None) -> str:
    return f"{zone_name()} {moment.astimezone(UTC).isoformat()}" if moment else zone_name()


def _parse_shown(text: str) -> tuple[tzinfo | None, datetime | None]:
    """Return the hidden input's zone and moment; None for what it lacks or what is malformed."""
    name, _, moment = text.partition(" ")
    zone = find_zone(name)
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError:
        parsed = None
    return zone, parsed if zone and parsed and parsed.utcoffset() is not None else None
