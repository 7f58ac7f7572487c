import time

import requests

url = "https://launchboard.example/api/feeds/udf"
symbol = requests.get(
    f"{url}/symbols", params={"symbol": "8453:0x0000000000000000000000000000000000000001.QUOTE"}, timeout=30
)
symbol.raise_for_status()
query = {"symbol": symbol.json()["ticker"], "resolution": "60", "to": int(time.time()), "countback": 24}
bars = requests.get(f"{url}/history", params=query, timeout=30)
bars.raise_for_status()
found = bars.json()
if found["s"] == "ok":
    for at, close in zip(found["t"], found["c"], strict=True):
        print(symbol.json()["name"], at, close)
