import re

from fwbench.analysis.findings import Findings
from fwbench.report.selection import FAILED
from fwbench.report.summary import summary

from .made_findings import HOSTILE, empty_findings, made_findings


def test_every_failure_is_told(findings: Findings) -> None:
    told = summary(findings)
    for status in FAILED:
        assert f"\n| {status} | " in told
    assert "weights sum to 1.3, not 1 \\| off by 0.3" in told


def test_names_cannot_become_markup(findings: Findings) -> None:
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", summary(findings))
    assert "<" not in outside.replace("≤", "")
    assert f"`{HOSTILE}`" in summary(findings)


def test_tables_have_as_many_cells_as_heads(findings: Findings) -> None:
    blocks = re.findall(r"(?:^\|.*\n)+", summary(findings), re.M)
    assert len(blocks) == 12
    for block in blocks:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_the_story_stands_in_sentences(findings: Findings) -> None:
    told = summary(findings)
    order = ["Who won", "Who won where", "What failed", "Growth", "Rates", "Profiles"]
    places = [told.index(f"\n## {name}\n") for name in [*order, "Fixed points"]]
    assert places == sorted(places)
    assert "`away_steps` was first most often: 3 of 3 races on 6 instances" in told
    assert "exponent -1.98 (-2.02 … -1.95) over 8 seeds" in told
    assert "to 1e-08 on 5 instances: `away_steps` alone came there on any of them." in told
    assert (
        "- `polygon[k=7]`: `frank_wolfe` and `hardmax_attention[keys=moving]` end at different "
        "vertices on 2 of 6 starts; the first is lower on 2 of these."
    ) in told
    assert not re.search(r"(?<![\d.])0\.0+(?!\d)", told)


def test_picture_is_shown_only_where_it_was_drawn(findings: Findings) -> None:
    assert "figures/overview.png" in summary(findings, figures=True)
    assert "figures/overview.png" not in summary(findings)
    assert "figures/overview.png" not in summary(empty_findings(), figures=True)


def test_equal_findings_give_equal_text(findings: Findings) -> None:
    assert summary(made_findings()) == summary(findings)
