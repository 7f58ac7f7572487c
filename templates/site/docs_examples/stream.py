import time

import requests

last_id = ""
while True:
    headers = {"Last-Event-ID": last_id} if last_id else {}
    try:
        with requests.get(
            "https://launchboard.example/api/tokens/stream", headers=headers, stream=True, timeout=(10, 60)
        ) as response:
            response.raise_for_status()
            for line in response.iter_lines(chunk_size=1):
                name, _, value = line.decode().partition(": ")
                if name == "id":
                    last_id = value
                elif name == "data":
                    print(value, flush=True)
    except requests.RequestException as error:
        print("reconnect:", error)
    time.sleep(3)
