curl -s 'https://launchboard.example/api/creators/0x0000000000000000000000000000000000000003?limit=5&days=30'
curl -s -G 'https://launchboard.example/api/search-creator' --data-urlencode 'q=alice'
