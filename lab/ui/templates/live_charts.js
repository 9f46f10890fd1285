// The live page's chart, drawn on a canvas ten times a second; the effort does not grow with the run.

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

function axes(paper, untilS, most) {
  const to = paper.to, bottom = paper.tall - 1.6 * paper.letters, top = 4 + 0.6 * paper.letters, right = paper.wide - 12, left = 4.5 * paper.letters;
  const x = (s) => left + (right - left) * s / untilS, y = (n) => bottom - (bottom - top) * n / most;
  to.fillStyle = paper.ink("soft"); to.strokeStyle = paper.ink("line"); to.lineWidth = 1;
  for (const part of [0, 0.5, 1]) {
    to.beginPath(); to.moveTo(left, y(most * part)); to.lineTo(right, y(most * part)); to.stroke();
    to.textAlign = "right"; to.textBaseline = "middle"; to.fillText(thin(most * part), left - 8, y(most * part));
  }
  to.textBaseline = "top"; to.textAlign = "left"; to.fillText("0\u2009s", left, bottom + 6);
  to.textAlign = "right"; to.fillText(`${untilS.toFixed(1)}\u2009s`, right, bottom + 6);
  return { x, y, left, right, top, bottom };
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

const untilOf = (points) => Math.max(1, points.at(-1)?.[0] ?? 1);

function envelope(paper, points, faults) { // of points: seconds, acknowledged, unknown, counter
  const to = paper.begin(), last = points.at(-1) || [1, 0, 0, 0];
  const most = round(Math.max(10, ...points.map((one) => Math.max(one[1] + one[2], one[3]))));
  const at = axes(paper, untilOf(points), most);
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

function liveness(paper, points, faults, requests) { // of points: seconds, acknowledged, unknown, counter, failed; what was served, refused, and waits
  const to = paper.begin(), last = points.at(-1) || [1, 0, 0, 0, 0];
  const at = axes(paper, untilOf(points), requests);
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
