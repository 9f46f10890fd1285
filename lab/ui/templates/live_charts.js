// The live page's pictures, drawn on canvases ten times a second; the effort does not grow with the run.
const STRIP_S = 10, BIN_S = 0.025;

class Paper { // a canvas in its own pixels, with the page's colours
  constructor(id) { this.canvas = document.getElementById(id); }
  begin() {
    const sharp = window.devicePixelRatio || 1, wide = this.canvas.clientWidth;
    const style = getComputedStyle(document.documentElement);
    this.ink = (name) => style.getPropertyValue(`--${name}`).trim();
    this.wide = wide; this.tall = this.canvas.clientHeight;
    this.letters = parseFloat(getComputedStyle(document.documentElement).fontSize); // a projector has larger ones
    this.canvas.width = Math.round(wide * sharp); this.canvas.height = Math.round(this.tall * sharp);
    this.to = this.canvas.getContext("2d");
    this.to.setTransform(sharp, 0, 0, sharp, 0, 0);
    this.to.font = `${this.letters}px system-ui, sans-serif`;
    return this.to;
  }
}

const thin = (number, digits = 0) => number === null || number === undefined ? "?" : number < 9999.5 ? number.toFixed(digits) : number.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");

function round(most) { // the next round number
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return [1, 2, 5, 10].map((step) => step * power).find((one) => one >= most) || 10 * power;
}

// a replay has its own pace: pairs of seconds and the share of it that is over by then
function along(pairs, value, from, to) {
  const after = Math.max(1, pairs.findIndex((one) => value <= one[from])), [one, other] = [pairs[after - 1], pairs[after]];
  return other[from] > one[from] ? one[to] + (other[to] - one[to]) * (value - one[from]) / (other[from] - one[from]) : other[to];
}
const shareOf = (pace, s) => along(pace, Math.min(s, pace.at(-1)[0]), 0, 1), momentOf = (pace, share) => along(pace, share, 1, 0);

function axes(paper, untilS, most, pace = [[0, 0], [untilS, 1]]) {
  const to = paper.to, bottom = paper.tall - 1.6 * paper.letters, top = 4 + 0.6 * paper.letters, right = paper.wide - 12, left = 4.5 * paper.letters;
  const x = (s) => left + (right - left) * shareOf(pace, s), y = (n) => bottom - (bottom - top) * n / most;
  to.fillStyle = paper.ink("soft"); to.strokeStyle = paper.ink("line"); to.lineWidth = 1;
  for (const part of [0, 0.5, 1]) {
    to.beginPath(); to.moveTo(left, y(most * part)); to.lineTo(right, y(most * part)); to.stroke();
    to.textAlign = "right"; to.textBaseline = "middle"; to.fillText(thin(most * part), left - 8, y(most * part));
  }
  to.textBaseline = "top"; to.textAlign = "left"; to.fillText("0\u2009s", left, bottom + 6);
  to.textAlign = "right"; to.fillText(`${untilS.toFixed(1)}\u2009s`, right, bottom + 6);
  for (const [s] of pace.slice(1, -1)) stretched(paper, x(s), top, bottom);
  return { x, y, left, right, top, bottom };
}

function stretched(paper, x, top, bottom) { // where the time begins or ends to be stretched
  const to = paper.to;
  to.save(); to.strokeStyle = paper.ink("soft"); to.lineWidth = 1.5; to.setLineDash([5, 5]);
  to.beginPath(); to.moveTo(x, top); to.lineTo(x, bottom); to.stroke(); to.restore();
}

function line(to, points, x, y, colour, width = 3) {
  to.strokeStyle = colour; to.lineWidth = width; to.lineJoin = "round"; to.beginPath();
  points.forEach((one, number) => number ? to.lineTo(x(one), y(one)) : to.moveTo(x(one), y(one)));
  to.stroke();
}

function between(to, points, x, low, high, colour) {
  if (!points.length) return;
  to.fillStyle = colour; to.beginPath();
  points.forEach((one, number) => number ? to.lineTo(x(one), high(one)) : to.moveTo(x(one), high(one)));
  [...points].reverse().forEach((one) => to.lineTo(x(one), low(one)));
  to.closePath(); to.fill();
}

function faultBands(paper, at, faults, nowS) {
  const to = paper.to;
  faults.forEach((one, number) => {
    const from = at.x(Math.max(0, one.from_s)), until = at.x(one.until_s ?? nowS);
    to.globalAlpha = 0.3; to.fillStyle = paper.ink("failed");
    to.fillRect(from, at.top, Math.max(3, until - from), at.bottom - at.top);
    to.globalAlpha = 1; to.fillStyle = paper.ink("text"); to.textBaseline = "top";
    const late = from > paper.wide / 2;
    to.textAlign = late ? "right" : "left";
    to.fillText(`${one.kind}, ${one.replica}`, from + (late ? -6 : 6), at.top + 4 + 1.25 * paper.letters * (number % 3));
  });
}

const untilOf = (points, whole) => whole === points ? Math.max(1, points.at(-1)?.[0] ?? 1) : whole.at(-1)[0]; // of a replay, the axis stays

function envelope(paper, points, faults, whole = points, pace = undefined) { // of points: seconds, acknowledged, unknown, counter; whole: for the axes
  const to = paper.begin(), last = points.at(-1) || [1, 0, 0, 0];
  const most = round(Math.max(10, ...whole.map((one) => Math.max(one[1] + one[2], one[3]))));
  const at = axes(paper, untilOf(points, whole), most, pace);
  const x = (one) => at.x(one[0]), acknowledged = (one) => at.y(one[1]), counter = (one) => at.y(one[3]);
  faultBands(paper, at, faults, last[0]);
  to.globalAlpha = 0.45;
  between(to, points, x, (one) => at.y(Math.min(one[3], one[1])), acknowledged, paper.ink("lost"));
  between(to, points, x, acknowledged, (one) => at.y(one[1] + one[2]), paper.ink("unknown"));
  to.globalAlpha = 1;
  line(to, points, x, (one) => at.y(one[1] + one[2]), paper.ink("unknown"), 1.5);
  line(to, points, x, acknowledged, paper.ink("counted"), 6);
  line(to, points, x, counter, paper.ink("counter"));
  const high = acknowledged(last), low = counter(last); // the gap, at the edge where its number is
  if (low - high > 4) { to.fillStyle = paper.ink("lost"); to.fillRect(x(last) - 2, high, 10, low - high); }
}

function liveness(paper, points, faults, requests, whole = points, pace = undefined) { // of points: seconds, acknowledged, unknown, counter, failed; what was served, refused, and waits
  const to = paper.begin(), last = points.at(-1) || [1, 0, 0, 0, 0];
  const at = axes(paper, untilOf(points, whole), requests, pace);
  const x = (one) => at.x(one[0]), served = (one) => at.y(one[1]), refused = (one) => at.y(one[1] + one[4] + one[2]);
  to.globalAlpha = 0.45;
  between(to, points, x, refused, () => at.y(requests), paper.ink("unknown"));
  between(to, points, x, () => at.y(0), served, paper.ink("counted"));
  between(to, points, x, served, refused, paper.ink("lost"));
  to.globalAlpha = 1;
  line(to, points, x, served, paper.ink("counted"), 5);
  line(to, points, x, refused, paper.ink("lost"));
  faultBands(paper, at, faults, last[0]);
}

const STAYS = [["counter", 0.3], ["counted", 0.85], ["failed", 1], ["lost", 1]]; // colours of a stay by its state (lab/ui/replay.py)

function lanes(paper, { replicas, stays, pace }, nowS) { // of a replay: each stay with the lock, until now
  const to = paper.begin(), { wide, tall } = paper, left = 6 * paper.letters, right = wide - 12, high = (tall - 4) / Math.max(1, replicas.length);
  const x = (s) => left + (right - left) * shareOf(pace, s);
  to.textAlign = "right"; to.textBaseline = "middle";
  replicas.forEach((name, row) => {
    to.fillStyle = paper.ink("hover"); to.fillRect(left, 2 + row * high, right - left, high - 4);
    to.fillStyle = paper.ink("text"); to.fillText(name, left - 8, row * high + high / 2);
  });
  for (const [name, from, until, state] of stays) {
    if (from > nowS) continue;
    const [colour, alpha] = STAYS[state];
    to.globalAlpha = alpha; to.fillStyle = paper.ink(colour);
    to.fillRect(x(from), 4 + replicas.indexOf(name) * high, Math.max(1.5, x(Math.min(until, nowS)) - x(from)), high - 8);
  }
  to.globalAlpha = 1; to.fillStyle = paper.ink("text"); to.fillRect(x(nowS) - 1, 0, 2, tall);
  for (const [s] of pace.slice(1, -1)) stretched(paper, x(s), 0, tall);
}

class Strip { // the holders over time, with a lane for each replica
  constructor(paper) { this.paper = paper; this.clear([]); }
  clear(replicas) { this.replicas = replicas; this.bins = new Map(replicas.map((name) => [name, []])); this.known = 0; this.locked = null; }
  add(bins) { // new bins, and older ones that a late line has changed
    this.locked = bins.locked;
    for (const [name, digits] of Object.entries(bins.held)) {
      if (!this.bins.has(name)) { this.replicas.push(name); this.bins.set(name, []); }
      const lane = this.bins.get(name);
      [...digits].forEach((digit, number) => { lane[bins.first + number] = [digit, bins.pale[name][number], bins.crowded[name][number]].map(Number); });
      this.known = Math.max(this.known, bins.first + digits.length);
    }
    const kept = this.known - 2 * STRIP_S / BIN_S; // forget what has left the strip
    if (kept > 0) for (const lane of this.bins.values()) for (const number of Object.keys(lane)) { if (number >= kept) break; delete lane[number]; }
  }
  draw(nowS) { // nowS: of the right end
    const to = this.paper.begin(), { wide, tall } = this.paper, left = 6 * this.paper.letters, lanes = Math.max(1, this.replicas.length);
    const high = (tall - 4) / lanes, across = (wide - left - 4) / STRIP_S, startS = nowS - STRIP_S;
    const holder = this.paper.ink(this.locked === false ? "counter" : "counted");
    this.replicas.forEach((name, row) => {
      const top = 2 + row * high;
      to.fillStyle = this.paper.ink("hover"); to.fillRect(left, top, wide - left - 4, high - 4);
      to.fillStyle = this.paper.ink("text"); to.textAlign = "left"; to.textBaseline = "middle"; to.fillText(name, 4, top + high / 2 - 2);
      const lane = this.bins.get(name);
      for (let number = Math.max(0, Math.floor(startS / BIN_S)); number < this.known; number++) {
        if (!lane[number]) continue;
        const [held, pale, crowded] = lane[number], place = left + (number * BIN_S - startS) * across;
        if (place < left) continue;
        const fill = (colour, from, share, alpha = 1) => {
          to.globalAlpha = alpha; to.fillStyle = colour;
          to.fillRect(place, top + (high - 4) * (1 - Math.min(9, from + share) / 9), BIN_S * across + 0.4, (high - 4) * Math.min(share, 9 - from) / 9);
        };
        if (held) fill(holder, 0, held);
        if (pale) fill(holder, held, pale, 0.35);
        if (crowded) fill(this.paper.ink("lost"), 0, Math.min(crowded, held));
      }
      to.globalAlpha = 1;
    });
  }
}
