"""HTML that the tests of notebook views look at."""

from html.parser import HTMLParser
from typing import Any

__all__ = ["Balanced"]


class Balanced(HTMLParser):
    """Tags that are opened are closed, and there is nothing that runs or loads."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag in {
            "table",
            "tr",
            "td",
            "th",
            "pre",
            "div",
            "b",
            "br",
            "span",
            "details",
            "summary",
        }, tag
        assert all(not k.startswith("on") and k not in ("src", "href") for k, _ in attrs)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
