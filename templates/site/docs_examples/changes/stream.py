import time

import requests

url = "https://launchboard.example/api/tokens/stream"
last_id, retry, wait = "", 3.0, 0.0
while True:
    time.sleep(wait)
    wait = retry
    headers = {"Last-Event-ID": last_id} if last_id else {}
    try:
        # Heartbeats come every 15 s: after 30 s of silence the connection is lost.
        with requests.get(url, headers=headers, stream=True, timeout=30) as response:
            if response.status_code in (429, 502, 503):
                wait = float(response.headers.get("Retry-After", retry))
                continue
            response.raise_for_status()
            event = {}
            for line in response.iter_lines(chunk_size=1):
                name, _, value = line.decode().partition(": ")
                event[name] = value
                if line:
                    continue
                # An empty line ends an event. One that is cut off before is sent again.
                last_id = event.get("id", last_id)
                retry = wait = int(event["retry"]) / 1000 if "retry" in event else retry
                if "data" in event:
                    print(event["data"], flush=True)
                event = {}
    except requests.HTTPError:
        raise
    except requests.RequestException as error:
        print("reconnect:", error, flush=True)
