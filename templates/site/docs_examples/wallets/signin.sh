# A nonce is for one message, within ten minutes.
curl -s -X POST 'https://launchboard.example/api/sign-in/nonce'

# MESSAGE is the text that the wallet signed, with `\n` as line breaks; SIGNATURE is hex.
token=$(curl -s 'https://launchboard.example/api/sign-in' -H 'content-type: application/json' \
  -d '{"message": "'"$MESSAGE"'", "signature": "'"$SIGNATURE"'"}' | sed 's/.*"token": *"\([^"]*\)".*/\1/')
curl -s -H "Authorization: Bearer $token" 'https://launchboard.example/api/pretoken/pending'
