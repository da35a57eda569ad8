"""Pages of their own, from a template: one HTML document each, nothing loaded from anywhere."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

TEMPLATES = Path(__file__).parent / "templates"


def page(template: str, **content: Any) -> str:
    """Return a page; what it holds is escaped, whatever it is.

    Parameters
    ----------
    template : str
        Its file name.
    **content : object
        What the template names; `Markup` stays as it is.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = _breakable
    css = Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))
    return environment.get_template(template).render(css=css, **content)


def _breakable(name: str) -> Markup:
    """Escape a name and let it break after its commas and before its bracket."""
    return Markup(str(escape(name)).replace(",", ",<wbr>").replace("[", "<wbr>["))
