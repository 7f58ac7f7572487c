import requests

url = "https://launchboard.example/api/tokens/8453/0x0000000000000000000000000000000000000001"
trades = requests.get(f"{url}/trades", params={"limit": 20}, timeout=30)
trades.raise_for_status()
for trade in trades.json()["data"]:
    print(trade["side"], trade["valueUsd"])

candles = requests.get(f"{url}/candles", params={"interval": "1h", "currency": "usd"}, timeout=30)
candles.raise_for_status()
for candle in candles.json()["data"]:
    print(candle["t"], candle["o"], candle["h"], candle["l"], candle["c"])
