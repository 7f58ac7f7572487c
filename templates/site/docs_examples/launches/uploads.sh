# Store a picture. The response has its URL, for the image of a launch or of a document.
curl -s 'https://launchboard.example/api/uploads/pictures' \
  -H "x-api-key: $LAUNCHBOARD_KEY" -H 'content-type: image/png' --data-binary @token.png

# Store a document with the texts of a token.
curl -s 'https://launchboard.example/api/uploads/metadata' \
  -H "x-api-key: $LAUNCHBOARD_KEY" -H 'content-type: application/json' \
  -d '{"name": "Doge of uploads", "symbol": "DOGE", "description": "A token of the examples."}'
