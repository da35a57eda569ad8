"""What tests tell besides whether they pass, printed at the end, from other processes too."""

TOLD = "told"  # name of the property that a test records


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.getreports("passed"):
        for name, text in report.user_properties:
            if name == TOLD:
                terminalreporter.section(report.nodeid)
                terminalreporter.write_line(text)
