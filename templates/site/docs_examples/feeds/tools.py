import requests

url = "https://launchboard.example/api/feeds/dextools/8453"


def read(path, **query):
    response = requests.get(f"{url}/{path}", params=query, timeout=30)
    response.raise_for_status()
    return response.json()


newest = read("latest-block")["block"]["blockNumber"]
for event in read("events", fromBlock=newest - 99, toBlock=newest)["events"]:
    pair = read("pair", id=event["pairId"])["pair"]
    print(event["block"]["blockNumber"], event["eventType"], pair["factoryAddress"])
asset = read("asset", id="0x0000000000000000000000000000000000000001")["asset"]
print(asset["symbol"], asset["totalSupply"])
