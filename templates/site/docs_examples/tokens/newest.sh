curl -s 'https://launchboard.example/api/tokens?limit=5&includeMarket=1'
