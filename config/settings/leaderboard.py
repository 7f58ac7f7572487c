"""The knobs of the leaderboard, which `config.settings` takes in."""

from config.environment.variables import env_bool, env_int, load_env_file

# This module is imported before the settings have read it.
load_env_file()

# How often a ranking of each interval is made, in seconds: of the last day, of seven days, and of thirty.
LEADERBOARD_SECONDS = {
    "24h": env_int("LEADERBOARD_24H_SECONDS", 300, minimum=15, maximum=86_400),
    "7d": env_int("LEADERBOARD_7D_SECONDS", 900, minimum=15, maximum=86_400),
    "30d": env_int("LEADERBOARD_30D_SECONDS", 3600, minimum=15, maximum=86_400),
}
# How old facts about agents become before they are deleted; the longest interval is 30 days.
LEADERBOARD_FACT_DAYS = env_int("LEADERBOARD_FACT_DAYS", 90, minimum=31, maximum=3650)
# How long a ranking is kept after another took its place, for those who are walking through it.
LEADERBOARD_SNAPSHOT_MINUTES = env_int("LEADERBOARD_SNAPSHOT_MINUTES", 30, minimum=1, maximum=10_080)
# How many agents of one partner key there are at most: each has a row in every ranking, whether it is ranked or not.
LEADERBOARD_AGENTS_PER_KEY = env_int("LEADERBOARD_AGENTS_PER_KEY", 1_000, minimum=1, maximum=1_000_000)
# How often each agent's casts are pulled from the hub that FARCASTER_HUB_URL names.
HUB_PULL_SECONDS = env_int("HUB_PULL_SECONDS", 120, minimum=10, maximum=86_400)
# Whether the social profiles of all who interact with agents are fetched, for their scores; providers count each. Those
# of agents' creators always are.
LEADERBOARD_ACTOR_SCORES = env_bool("LEADERBOARD_ACTOR_SCORES", False)
