#!/usr/bin/env python
"""Django's command line, with the bundled servers if no others are configured."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from config.environment.variables import load_env_file
from development import running_chain
from development.servers import bundled


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        load_env_file()
        bundled.ensure_running()
        running_chain.apply_settings()
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"launchboard: {error}")


if __name__ == "__main__":
    main()
