"""The built-in suites, one TOML file a version."""
