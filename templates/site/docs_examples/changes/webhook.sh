# Create an endpoint. The response has its secret, once.
curl -s 'https://launchboard.example/api/webhooks' \
  -H "x-api-key: $LAUNCHBOARD_KEY" -H 'content-type: application/json' \
  -d '{"url": "https://receiver.example/hook", "types": ["token.indexed"]}'
