curl -sNL 'https://launchboard.example/api/tokens/stream'
