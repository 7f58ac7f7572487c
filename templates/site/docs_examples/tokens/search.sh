curl -s -G 'https://launchboard.example/api/tokens' --data-urlencode 'q=cat' -d sortBy=market-cap -d limit=5
