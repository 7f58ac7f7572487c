"""How often anybody may call, which `config.settings` takes in: 0 is any number of times."""

from config.environment.variables import env_int, load_env_file

# This module is imported before the settings have read it.
load_env_file()

# In a minute. Of each client address, without a key or with a bad one:
RATE_LIMIT_PUBLIC = env_int("RATE_LIMIT_PUBLIC", 120, minimum=0, maximum=1_000_000)
# Of each partner key:
RATE_LIMIT_KEYED = env_int("RATE_LIMIT_KEYED", 600, minimum=0, maximum=1_000_000)
# Of each partner key, for indexing a transaction, which counts by itself:
RATE_LIMIT_INDEX = env_int("RATE_LIMIT_INDEX", 10, minimum=0, maximum=1_000_000)
# Of each partner key, for ordering launches, in a day; without a quota also its orders on one chain in a day by UTC:
RATE_LIMIT_DEPLOY = env_int("RATE_LIMIT_DEPLOY", 10_000, minimum=0, maximum=1_000_000)
# Of each user, for making a pretoken, in an hour:
RATE_LIMIT_PRETOKEN = env_int("RATE_LIMIT_PRETOKEN", 20, minimum=0, maximum=1_000_000)
# Of each user, for saying of a token that it was launched, in an hour:
RATE_LIMIT_SAVE_TOKEN = env_int("RATE_LIMIT_SAVE_TOKEN", 60, minimum=0, maximum=1_000_000)
# Of each client address, for the same without a user's token, in an hour:
RATE_LIMIT_SAVE_TOKEN_ANONYMOUS = env_int("RATE_LIMIT_SAVE_TOKEN_ANONYMOUS", 30, minimum=0, maximum=1_000_000)
# Of each client address, to begin an administrator's session:
RATE_LIMIT_ADMIN_VERIFY = env_int("RATE_LIMIT_ADMIN_VERIFY", 5, minimum=0, maximum=1_000_000)
# Of each partner key, for reporting what agents did, which counts by itself:
RATE_LIMIT_AGENT_EVENTS = env_int("RATE_LIMIT_AGENT_EVENTS", 120, minimum=0, maximum=1_000_000)
