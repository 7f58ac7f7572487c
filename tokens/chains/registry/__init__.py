"""Registry of chains, generations, contracts and presets."""
