import pytest

from fwbench.analysis.findings import Findings
from fwbench.report.html import html

from .made_findings import made_findings


@pytest.fixture(scope="session")
def findings() -> Findings:
    return made_findings()


@pytest.fixture(scope="session")
def page(findings: Findings) -> str:
    return html(findings)
