"""Rate limits of the API in calls per window; 0 is no limit."""

from config.environment.variables import env_int, load_env_file

# Imported before `config.settings` has loaded the file.
load_env_file()

# Per minute and client address, for requests without a key or with a rejected one.
RATE_LIMIT_PUBLIC = env_int("RATE_LIMIT_PUBLIC", 120, minimum=0, maximum=1_000_000)
# Per minute and partner key.
RATE_LIMIT_KEYED = env_int("RATE_LIMIT_KEYED", 600, minimum=0, maximum=1_000_000)
# Per minute and partner key, for index requests, which have a window of their own.
RATE_LIMIT_INDEX = env_int("RATE_LIMIT_INDEX", 10, minimum=0, maximum=1_000_000)
# Per day and partner key, for launch requests; without a quota also the deployments on one chain per day in UTC.
RATE_LIMIT_DEPLOY = env_int("RATE_LIMIT_DEPLOY", 10_000, minimum=0, maximum=1_000_000)
# Per hour and user, for creating a pretoken.
RATE_LIMIT_PRETOKEN = env_int("RATE_LIMIT_PRETOKEN", 20, minimum=0, maximum=1_000_000)
# Per hour and user, for saving a launched token.
RATE_LIMIT_SAVE_TOKEN = env_int("RATE_LIMIT_SAVE_TOKEN", 60, minimum=0, maximum=1_000_000)
# Per hour and client address, for the same without a user's token.
RATE_LIMIT_SAVE_TOKEN_ANONYMOUS = env_int("RATE_LIMIT_SAVE_TOKEN_ANONYMOUS", 30, minimum=0, maximum=1_000_000)
# Per minute and client address, for creating an administrator's session.
RATE_LIMIT_ADMIN_VERIFY = env_int("RATE_LIMIT_ADMIN_VERIFY", 5, minimum=0, maximum=1_000_000)
# Per minute and partner key, for reporting agents' events, which have a window of their own.
RATE_LIMIT_AGENT_EVENTS = env_int("RATE_LIMIT_AGENT_EVENTS", 120, minimum=0, maximum=1_000_000)
