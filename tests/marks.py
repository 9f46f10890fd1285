"""Read the marks of a picture from its SVG."""

from pathlib import Path
from xml.etree import ElementTree as ET

from lab.report.chart import NAMES, Mark

SVG = "{http://www.w3.org/2000/svg}"
BY_NAME = {name: mark for mark, name in NAMES.items()}


def svg(path: Path) -> ET.Element:
    """Return a picture of the lab."""
    return ET.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314 - the lab's own picture


def used(root: ET.Element, kind: str = "cell") -> list[Mark]:
    """Return the marks that are drawn, in their order."""
    links = [one.get("href", "").partition("-") for one in root.iter(f"{SVG}use")]
    return [BY_NAME[name] for before, _, name in links if before == f"#{kind}"]


def smallest(root: ET.Element) -> float:
    """Return the size of the smallest letters, in px. Each text has a size, or is in a group that has one."""
    return min(float(one.get("font-size", "inf")) for one in root.iter())
