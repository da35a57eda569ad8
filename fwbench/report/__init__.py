"""Findings shown to people: HTML, Markdown, terminal and figures; computes no number."""
