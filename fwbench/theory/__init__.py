"""What claims are made of: statements and verdicts, layers walked one by one, intervals."""
