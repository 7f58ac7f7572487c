curl -s -H "x-api-key: $LAUNCHBOARD_KEY" 'https://launchboard.example/api/events?after=0&limit=100'
