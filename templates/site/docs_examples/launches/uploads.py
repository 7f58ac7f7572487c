import os
from pathlib import Path

import requests

url = "https://launchboard.example/api/uploads"
key = {"x-api-key": os.environ["LAUNCHBOARD_KEY"]}


def read(response):
    response.raise_for_status()
    return response.json()


headers = key | {"content-type": "image/png"}
picture = read(requests.post(f"{url}/pictures", data=Path("token.png").read_bytes(), headers=headers, timeout=60))
print(picture["url"], picture["width"], picture["height"])

texts = {"name": "Doge of uploads", "symbol": "DOGE", "image": picture["url"]}
print(read(requests.post(f"{url}/metadata", json=texts, headers=key, timeout=60))["url"])
