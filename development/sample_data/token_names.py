"""Invented tokens' names and symbols: Zipf-distributed words, and other texts that launchers enter. Pure."""

import itertools
from pathlib import Path
from random import Random

# Most frequent first, so that search counts span all magnitudes.
WORDS = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").split()
_CONSONANTS = ("b", "d", "k", "l", "d", "m", "n", "p", "r", "s", "t", "v", "z", "sh", "ch", "g", "h", "j", "w", "y")
_VOWELS = ("a", "e", "i", "o", "u", "oo")
SYLLABLES = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]
IDEOGRAMS = (
    "犬猫狗币月龙金马山火星熊虎福王天大中国日本水木土人心花风雪海神鬼佛仙狐猴鸡牛羊兔鼠蛇鱼鸟米酒"
    "茶刀剑红黑白青小老新年春夏秋冬東京愛夢光空力運命"
)
EMOJI = "🚀🌕💎🐶🐸🔥🐱🤖💰🦍👑🐕🎉🌈⚡🍌🦊🐳❤🎩🧠👻🍕🐼"
# Names with special characters from LIKE patterns, URLs and quoted texts.
ODD_NAMES = (
    "100% {0}",
    "{0}_{1}",
    "{0}\\{1}",
    "{0}'s {1}",
    'the "{0}"',
    "{0}-{1}",
    "{0}.fun",
    "({0})",
    "{0} & {1}",
    "{0}/{1}",
)
_SYMBOL_LENGTH = 8


def _zipf(count: int, exponent: float) -> list[float]:
    """Return cumulative weights for the ranks 1 to count."""
    return list(itertools.accumulate(1 / rank**exponent for rank in range(1, count + 1)))


_WORD_WEIGHTS = _zipf(len(WORDS), 0.9)
_IDEOGRAM_WEIGHTS = _zipf(len(IDEOGRAMS), 0.55)
_EMOJI_WEIGHTS = _zipf(len(EMOJI), 0.6)


def draw_name(random: Random) -> tuple[str, str]:
    """Return a name and a symbol: 3 % ideograms, 4 % with emoji, 0.3 % with odd characters, else 1 to 4 words."""
    kind = random.random()
    if kind < 0.03:
        return _ideograms(random)
    words = [_word(random) for _ in range(random.choices((1, 2, 3, 4), (40, 42, 14, 4))[0])]
    symbol = _symbol(random, words)
    if kind < 0.07:
        emoji = random.choices(EMOJI, cum_weights=_EMOJI_WEIGHTS)[0] * random.choice((1, 1, 1, 2, 3))
        if random.random() < 0.3:
            return f"{_dress(random, words)} {emoji}", emoji
        return random.choice((f"{emoji} {_dress(random, words)}", f"{_dress(random, words)}{emoji}")), symbol
    if kind < 0.073:
        return random.choice(ODD_NAMES).format(words[0], words[-1]), symbol
    return _dress(random, words), symbol


def _ideograms(random: Random) -> tuple[str, str]:
    count = random.choices((1, 2, 3, 4, 6), (15, 45, 20, 15, 5))[0]
    name = "".join(random.choices(IDEOGRAMS, cum_weights=_IDEOGRAM_WEIGHTS, k=count))
    return name, name if random.random() < 0.6 else _word(random).upper()[:_SYMBOL_LENGTH]


def _word(random: Random) -> str:
    if random.random() < 0.66:
        return random.choices(WORDS, cum_weights=_WORD_WEIGHTS)[0]
    return "".join(random.choices(SYLLABLES, k=random.choice((2, 2, 3, 3, 4))))


def _dress(random: Random, words: list[str]) -> str:
    """Join the words to a name, in a usual style."""
    style = random.random()
    if style < 0.7:
        return " ".join(words).title()
    if style < 0.8:
        return " ".join(words)
    return " ".join(words).upper() if style < 0.9 else "".join(words)


def _symbol(random: Random, words: list[str]) -> str:
    style = random.random()
    if style < 0.15 and len(words) > 2:
        text = "".join(word[0] for word in words)
    elif style < 0.6:
        text = words[0]
    else:
        text = "".join(words)
    return ("$" if style > 0.97 else "") + text[:_SYMBOL_LENGTH].upper()
