"""Time formats on the admin site, as in `config.operators.local_times`; public pages have their own filters.

Django reads them by FORMAT_MODULE_PATH.
"""

DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "Y-m-d H:i T"
DATE_FORMAT = SHORT_DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i"
