import os

import requests

headers = {"x-api-key": os.environ["LAUNCHBOARD_KEY"]}
# Store it with your data, and go on from it after a restart.
after = 0
while True:
    parameters = {"after": after, "limit": 500}
    response = requests.get("https://launchboard.example/api/events", headers=headers, params=parameters, timeout=30)
    response.raise_for_status()
    page = response.json()
    for event in page["data"]:
        print(event["id"], event["type"], event["subject"])
    if page["cursor"] == after:
        break
    after = page["cursor"]
