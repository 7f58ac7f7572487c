import requests

url = "https://launchboard.example/api/feeds/dexscreener/8453"


def read(path, **query):
    response = requests.get(f"{url}/{path}", params=query, timeout=30)
    response.raise_for_status()
    return response.json()


newest = read("latest-block")["block"]["blockNumber"]
for event in read("events", fromBlock=newest - 99, toBlock=newest)["events"]:
    print(event["block"]["blockNumber"], event["eventType"], event["pairId"], event.get("priceNative"))
    print(read("pair", id=event["pairId"])["pair"]["asset0Id"])
