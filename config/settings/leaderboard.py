"""Settings of the leaderboard."""

from config.environment.variables import env_bool, env_int, load_env_file

# Imported before `config.settings` has loaded the file.
load_env_file()

# Seconds between rankings of each interval: the last day, seven days, and thirty.
LEADERBOARD_SECONDS = {
    "24h": env_int("LEADERBOARD_24H_SECONDS", 300, minimum=15, maximum=86_400),
    "7d": env_int("LEADERBOARD_7D_SECONDS", 900, minimum=15, maximum=86_400),
    "30d": env_int("LEADERBOARD_30D_SECONDS", 3600, minimum=15, maximum=86_400),
}
# Retention of facts about agents in days; the longest interval is 30 days.
LEADERBOARD_FACT_DAYS = env_int("LEADERBOARD_FACT_DAYS", 90, minimum=31, maximum=3650)
# Retention of a replaced ranking in minutes, for clients that are paging through it.
LEADERBOARD_SNAPSHOT_MINUTES = env_int("LEADERBOARD_SNAPSHOT_MINUTES", 30, minimum=1, maximum=10_080)
# Maximum agents of one partner key: each has a row in every ranking, ranked or not.
LEADERBOARD_AGENTS_PER_KEY = env_int("LEADERBOARD_AGENTS_PER_KEY", 1_000, minimum=1, maximum=1_000_000)
# Seconds between pulls of an agent's casts from the hub at FARCASTER_HUB_URL.
HUB_PULL_SECONDS = env_int("HUB_PULL_SECONDS", 120, minimum=10, maximum=86_400)
# Whether the social profiles of all accounts that interact with agents are fetched, for their scores; providers charge
# for each. Those of agents' creators are always fetched.
LEADERBOARD_ACTOR_SCORES = env_bool("LEADERBOARD_ACTOR_SCORES", False)
