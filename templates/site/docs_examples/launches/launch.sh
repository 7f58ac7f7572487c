# Store the request key before the launch: a repeated call with it never launches a second token.
request_key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
token="{\"name\": \"Doge of launches\", \"symbol\": \"DOGE\", \"tokenAdmin\": \"$TOKEN_ADMIN\", \"requestKey\": \"$request_key\"}"

# Validate and simulate. The response has the whole configuration.
curl -s 'https://launchboard.example/api/tokens/deploy' \
  -H "x-api-key: $LAUNCHBOARD_KEY" -H 'content-type: application/json' \
  -d '{"chainId": 8453, "dryRun": true, "token": '"$token"'}'

# Launch the token, and read how far the launch is.
curl -s 'https://launchboard.example/api/tokens/deploy' \
  -H "x-api-key: $LAUNCHBOARD_KEY" -H 'content-type: application/json' \
  -d '{"chainId": 8453, "token": '"$token"'}'
curl -s -H "x-api-key: $LAUNCHBOARD_KEY" "https://launchboard.example/api/tokens/deploy/status/$request_key"
