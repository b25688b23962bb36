// Draws a film: time from left to right, a lane for each node, messages as lines between lanes. Only what is visible is drawn.

import { above, below, isNone } from "./film.js";

const TOP = 30;
const LEFT = 60;
/** More messages than this are a grey mass: then those of the steady traffic are left out. */
const TRIPS_MAX = 3000;
/** How nodes are drawn: colour, width of the line, and dashes, so that no state is told by its colour alone. */
export const STATES = {
  leads: ["--leads", 9, []],
  normal: ["--follows", 4, []],
  election: ["--elects", 4, [3, 3]],
  waiting: ["--waits", 4, [8, 3]],
  reorganizing: ["--waits", 6, [2, 2]],
  paused: ["--away", 6, [1, 4]],
  dead: ["--away", 2, [6, 4]],
  down: ["--away", 0, []],
};

export class Diagram {
  constructor(canvas) {
    Object.assign(this, { canvas, zoom: 1, left: 0, frame: 0, toScale: false, steady: true });
    this.reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  show(film, names, broken) {
    Object.assign(this, { film, names, broken });
    this.lay();
    this.lane = film.nodes <= 4 ? 80 : film.nodes <= 8 ? 58 : 38;
    this.canvas.style.height = `${TOP + this.lane * film.nodes + 18}px`;
  }

  /** Where each event is, before zooming. Unless it is to scale, long times take only a little more room than short ones. */
  lay() {
    const { at } = this.film.frame;
    const place = new Float64Array(at.length);
    const scale = 1000 / Math.max(1, this.film.ended);
    for (let i = 0, x = 0; i < at.length; i++) {
      const gap = i ? at[i] - at[i - 1] : at[0];
      if (this.toScale) x = at[i] * scale;
      else if (gap > 0) x += 14 + 7 * Math.log10(1 + gap / 100);
      place[i] = x;
    }
    this.place = place;
    this.extent = this.toScale ? 1000 : (place.at(-1) ?? 0) + 40;
  }

  get width() {
    return this.canvas.clientWidth - LEFT - 12;
  }

  /** Zooms so that all is visible. */
  fit() {
    this.zoom = this.width / Math.max(1, this.extent);
    this.left = 0;
  }

  /** What a run opens with: legible, or all of it if that is legible. */
  open() {
    const all = this.width / Math.max(1, this.extent);
    this.zoom = this.toScale ? all : Math.max(all, 1.6);
    this.left = 0;
  }

  zoomBy(factor, x = this.xOf(this.frame)) {
    const under = this.left + (x - LEFT) / this.zoom;
    const all = this.width / Math.max(1, this.extent);
    this.zoom = Math.min(Math.max(this.zoom * factor, Math.min(all, 1)), 1e6);
    this.left = under - (x - LEFT) / this.zoom;
    this.keepInside();
  }

  pan(pixels) {
    this.left += pixels / this.zoom;
    this.keepInside();
  }

  keepInside() {
    this.left = Math.max(0, Math.min(this.left, this.extent - this.width / this.zoom));
  }

  /** Moves as little as must be for the cursor to be seen, or to where it was in another diagram. */
  follow(x) {
    const now = this.xOf(this.frame);
    const [low, high] = [LEFT + 40, LEFT + this.width - 40];
    if (x !== undefined) this.left += (now - x) / this.zoom;
    else if (now < low || now > high) this.left = this.place[this.frame] - this.width / 2 / this.zoom;
    this.keepInside();
  }

  xOf(frame) {
    return LEFT + ((this.place[frame] ?? 0) - this.left) * this.zoom;
  }

  y(node) {
    return TOP + this.lane * (node - 0.5);
  }

  /** The event that is nearest to a point. */
  frameNear(x, y) {
    const near = this.left + (x - LEFT) / this.zoom;
    const reach = 12 / this.zoom;
    const [from, to] = [below(this.place, near - reach), above(this.place, near + reach)];
    let best = Math.max(0, above(this.place, near) - 1);
    let least = Infinity;
    for (let i = from; i < to && i < from + 5000; i++) {
      const apart = Math.hypot((this.place[i] - near) * this.zoom, (this.y(this.film.frame.node[i]) - y) / 2);
      if (apart < least) [best, least] = [i, apart];
    }
    return best;
  }

  /** Draws with the next frame of the screen, once. */
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.film) this.paint();
    });
  }

  paint() {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const style = getComputedStyle(canvas);
    this.colour = (name) => style.getPropertyValue(name).trim();
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif";
    const near = this.left - 4 / this.zoom;
    const from = Math.max(0, below(this.place, near) - 1);
    const to = Math.min(this.film.length - 1, above(this.place, this.left + (this.width + 12) / this.zoom));
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, width - LEFT, height);
    pen.clip();
    this.paintTimes(pen, from, to, height);
    this.paintLanes(pen, from, to, width);
    this.paintTrips(pen, from, to);
    this.paintEvents(pen, from, to);
    this.paintBroken(pen, height);
    this.paintCursor(pen, height);
    pen.restore();
    pen.textAlign = "right";
    pen.fillStyle = this.colour("--ink");
    for (let node = 1; node <= this.film.nodes; node++) {
      pen.fillText(`node ${this.names[node - 1]}`, LEFT - 8, this.y(node) + 4);
    }
  }

  paintTimes(pen, from, to, height) {
    const { at } = this.film.frame;
    pen.fillStyle = this.colour("--soft");
    pen.strokeStyle = this.colour("--line");
    pen.textAlign = "center";
    pen.lineWidth = 1;
    let last = -Infinity;
    // As many digits as tell one mark from the next.
    const seconds = ((at[to] ?? 0) - (at[from] ?? 0)) / 1e6;
    const digits = Math.max(0, Math.min(6, Math.ceil(2 - Math.log10(seconds || 1e-6))));
    for (let i = from; i <= to; i++) {
      const x = this.xOf(i);
      if (x - last < 80 || x < LEFT + 20) continue;
      last = x;
      pen.beginPath();
      pen.moveTo(x, TOP - 6);
      pen.lineTo(x, height - 10);
      pen.stroke();
      pen.fillText(`${+(at[i] / 1e6).toFixed(digits)} s`, x, TOP - 11);
      // At this zoom whole instants lie between two marks.
      i = Math.max(i, below(this.place, this.place[i] + 60 / this.zoom) - 1);
    }
  }

  paintLanes(pen, from, to, width) {
    const { film } = this;
    for (let node = 1; node <= film.nodes; node++) {
      const [lane, y] = [film.lanes[node - 1], this.y(node)];
      let place = Math.max(0, above(lane, from, (pose) => film.pose.from[pose]) - 1);
      pen.setLineDash([]);
      pen.lineWidth = 1;
      pen.strokeStyle = this.colour("--line");
      line(pen, LEFT, y, width, y);
      let drawn = -1;
      for (; place < lane.length && film.pose.from[lane[place]] <= to; place++) {
        const x = Math.max(LEFT, this.xOf(film.pose.from[lane[place]]));
        const next = lane[place + 1];
        const end = next === undefined ? width : Math.min(width, this.xOf(film.pose.from[next]));
        if (end - drawn < 0.5) continue;
        drawn = end;
        const [colour, wide, dashes] = STATES[film.stateOf(lane[place])] ?? STATES.normal;
        if (!wide) continue;
        pen.strokeStyle = this.colour(colour);
        pen.lineWidth = wide;
        pen.setLineDash(dashes);
        line(pen, x, y, end, y);
      }
    }
    pen.setLineDash([]);
  }

  paintTrips(pen, from, to) {
    const { film } = this;
    const { trip } = film;
    let trips = film.tripsBetween(from, to);
    const crowded = trips.length > TRIPS_MAX;
    if (crowded || !this.steady) trips = trips.filter((place) => trip.matters[place] || trip.fate[place] === 4);
    if (trips.length > TRIPS_MAX) trips = trips.filter((_, at) => at % Math.ceil(trips.length / TRIPS_MAX) === 0);
    const [ink, bad] = [this.colour("--message"), this.colour("--bad")];
    const labels = [];
    for (const place of trips) {
      const under = trip.sent[place] <= this.frame && film.endOf(place) > this.frame;
      const lost = trip.fate[place] >= 3;
      const [x1, y1] = [this.xOf(trip.sent[place]), this.y(trip.from[place])];
      const ends = !isNone(trip.end[place]);
      const x2 = ends ? this.xOf(trip.end[place]) : this.xOf(film.length - 1) + 20;
      const y2 = this.y(trip.to[place]);
      // What is lost at once would be a line without length.
      const [tx, ty] = lost ? [Math.max(x2, x1 + 5), y1 + (y2 - y1) * 0.35] : [x2, y2];
      pen.strokeStyle = lost ? bad : under ? this.colour("--accent") : ink;
      pen.globalAlpha = under || lost || trip.matters[place] ? 1 : 0.45;
      pen.lineWidth = under ? 2.5 : trip.matters[place] ? 1.5 : 1;
      pen.setLineDash(trip.fate[place] === 2 ? [4, 3] : []);
      line(pen, x1, y1, tx, ty);
      if (lost) cross(pen, tx, ty);
      else if (ends && !crowded) arrow(pen, x1, y1, tx, ty);
      if (this.zoom > 0.6 && !crowded && (under || lost || trip.matters[place])) {
        labels.push([film.kinds[trip.kind[place]], x1 + (tx - x1) * 0.45 + 4, y1 + (ty - y1) * 0.45 + 4]);
      }
    }
    pen.globalAlpha = 1;
    pen.setLineDash([]);
    this.paintLabels(pen, labels);
  }

  /** Names of messages, where there is room for them. */
  paintLabels(pen, labels) {
    const taken = [];
    pen.fillStyle = this.colour("--ink");
    pen.textAlign = "left";
    for (const [text, x, y] of labels) {
      const right = x + pen.measureText(text).width;
      if (taken.some((box) => x < box.right && right > box.x && Math.abs(y - box.y) < 13)) continue;
      taken.push({ x, y, right });
      pen.fillText(text, x, y);
    }
  }

  paintEvents(pen, from, to) {
    const { film } = this;
    if (to - from > 4000) return;
    const ends = new Array(film.nodes + 1).fill(-Infinity);
    for (let i = from; i <= to; i++) {
      if (isNone(film.frame.words[i])) continue;
      const [x, node] = [this.xOf(i), film.frame.node[i]];
      const what = film.names[film.frame.what[i]];
      pen.fillStyle = this.colour(what === "crash" ? "--bad" : "--ink");
      pen.beginPath();
      pen.arc(x, this.y(node), 3.5, 0, 7);
      pen.fill();
      if (what === "crash") {
        pen.strokeStyle = this.colour("--bad");
        cross(pen, x, this.y(node), 6);
      }
      const text = film.words[film.frame.words[i]];
      if (x < ends[node] || this.zoom < 0.4) continue;
      pen.textAlign = "left";
      pen.fillText(text, x + 2, this.y(node) - 9);
      ends[node] = x + 2 + pen.measureText(text).width + 8;
    }
  }

  paintBroken(pen, height) {
    for (const { us, name } of this.broken) {
      const x = this.xOf(this.film.frameFrom(us)) - 4;
      pen.strokeStyle = pen.fillStyle = this.colour("--bad");
      pen.lineWidth = 2;
      pen.setLineDash([2, 3]);
      line(pen, x, TOP - 4, x, height);
      pen.setLineDash([]);
      pen.textAlign = "left";
      pen.fillText(`${name} broken`, x + 3, height - 3);
    }
  }

  paintCursor(pen, height) {
    const x = this.xOf(this.frame);
    pen.strokeStyle = this.colour("--accent");
    pen.lineWidth = 2;
    line(pen, x, TOP - 8, x, height);
    const node = this.film.frame.node[this.frame];
    if (!node) return;
    pen.beginPath();
    pen.arc(x, this.y(node), 7, 0, 7);
    pen.stroke();
  }
}

function line(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

function cross(pen, x, y, size = 4) {
  pen.setLineDash([]);
  line(pen, x - size, y - size, x + size, y + size);
  line(pen, x - size, y + size, x + size, y - size);
}

function arrow(pen, x1, y1, x2, y2) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  pen.setLineDash([]);
  for (const turn of [-0.4, 0.4]) line(pen, x2, y2, x2 - 7 * Math.cos(angle + turn), y2 - 7 * Math.sin(angle + turn));
}
