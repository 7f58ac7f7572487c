import base64
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

key = base64.b64decode(os.environ.get("WEBHOOK_SECRET", "").removeprefix("whsec_"))
if not key:
    raise SystemExit("WEBHOOK_SECRET is not set")


def is_genuine(headers, body):
    sent_at = headers.get("webhook-timestamp", "")
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    # During a change of the secret there are two signatures.
    signatures = headers.get("webhook-signature", "").split(" ")
    if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in signatures):
        return False
    # A number of seconds, as the signature includes it.
    return abs(time.time() - int(sent_at)) <= 300


class Receiver(BaseHTTPRequestHandler):
    # Seconds without a byte of a request.
    timeout = 10

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        status = 204 if is_genuine(self.headers, body) else 401
        try:
            if status == 204:
                print(json.loads(body)["type"], flush=True)
        except ValueError:
            status = 400
        self.send_response(status)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
