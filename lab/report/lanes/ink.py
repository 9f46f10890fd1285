"""The colours of a run's drawing, on light and on dark paper, as a style that stands in the drawing itself.

A kind of mark is a class. What stands in ``time`` may be stretched by a page, and its lines stay as wide as they are.
"""

# in the order in which they are painted
KINDS = (
    "down", "waiting", "fault", "expired", "lease", "vote-other", "vote-alone", "vote", "call", "message", "message own", "outer",
    "belief", "alone", "both", "reading", "writing", "keeps", "wait", "read", "write", "write over", "theft", "begins", "loss",
)  # fmt: skip

STYLE = """
.lane-ink{--page:#fff;--text:#1c1c1c;--soft:#565656;--line:#dcdcd8;--grid:#ededea;--bad:#a34700;--loss:#d55e00;--belief:#a9d3ee;
--alone:#f2bd4d;--lease:#009e73;--read:#b9bdc0;--writing:#7db5d8;--write:#0072b2;--grey:#999;--orange:#e69f00}
@media(prefers-color-scheme:dark){.lane-ink{--page:#161616;--text:#ececec;--soft:#b4b4b4;--line:#444;--grid:#2b2b2b;--bad:#ff9d5c;
--loss:#ff8a3c;--belief:#2c526b;--alone:#96691a;--lease:#3fc79c;--read:#63696e;--writing:#3d7ba5;--write:#7cc4f5;--orange:#f0b23c}}
.lane-ink text{font:12px system-ui,"DejaVu Sans",Arial,sans-serif;fill:var(--text)}
.lane-ink .title{font-size:16px;font-weight:700}.lane-ink .soft{fill:var(--soft)}.lane-ink .lane{font-size:13px}
.lane-ink .off{display:none}.lane-ink .bold,.lane-ink .bad{font-weight:600}.lane-ink .bad{fill:var(--bad)}
.lane-ink .words text{paint-order:stroke;stroke:var(--page);stroke-opacity:.75;stroke-width:2.5px;stroke-linejoin:round}
.lane-ink .paper{fill:var(--page)}.lane-ink .grid{stroke:var(--grid);fill:none}.lane-ink .edge{stroke:var(--line);fill:none}
.lane-ink .block{fill:var(--of);stroke:var(--of);stroke-width:.5;vector-effect:non-scaling-stroke}
.lane-ink .line{fill:none;stroke:var(--of);stroke-width:1.4;vector-effect:non-scaling-stroke}
.lane-ink .sign{fill:none;stroke:var(--of);stroke-width:1.4}.lane-ink .full{fill:var(--of)}.lane-ink .hollow{fill:var(--page)}
.lane-ink :is(.down,.fault){--of:var(--grey);opacity:.3}.lane-ink .waiting{--of:var(--grey);opacity:.5}
.lane-ink :is(.lease,.vote,.keeps){--of:var(--lease)}.lane-ink :is(.expired,.vote-other){--of:var(--lease);opacity:.35}
.lane-ink .vote-alone{--of:var(--grey);opacity:.6}.lane-ink :is(.call,.reading){--of:var(--read)}
.lane-ink .belief{--of:var(--belief)}.lane-ink .outer{--of:var(--belief);opacity:.45}.lane-ink .alone{--of:var(--alone)}
.lane-ink .writing{--of:var(--writing)}.lane-ink .wait{--of:var(--soft)}.lane-ink :is(.read,.plain){--of:var(--text)}
.lane-ink .write{--of:var(--write);stroke-width:2}.lane-ink .message{--of:var(--grey);stroke-width:.9}
.lane-ink :is(.both,.over,.theft,.begins,.harm,.loss){--of:var(--loss)}.lane-ink .failed{--of:var(--orange)}
.lane-ink :is(.arc,.theft){stroke-width:1.9}.lane-ink .begins{stroke-dasharray:1 3;stroke-width:1.6}
.lane-ink .bend{stroke:var(--soft);stroke-width:3;stroke-dasharray:3 3}.lane-ink .crowded .write{stroke-width:.7}
.lane-ink .crowded :is(.call,.reading,.read,.writing),.lane-ink .many .message:not(.own),.lane-ink .loss:not(.shown){display:none}
"""
