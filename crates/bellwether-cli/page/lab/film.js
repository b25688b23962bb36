// A run as columns of numbers, and what can be looked up in it. It knows events and messages, and nothing of protocols.

const NONE = 0xffffffff;
/** Messages under way are kept at every so many events. */
const STRIDE = 1024;

export class Film {
  constructor(buffer) {
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    const start = Math.ceil((8 + length) / 8) * 8;
    const column = (name) => {
      const { at, bytes, kind } = header.columns[name];
      return kind === "f64"
        ? new Float64Array(buffer, start + at, bytes / 8)
        : new Uint32Array(buffer, start + at, bytes / 4);
    };
    const table = (name, keys) => Object.fromEntries(keys.map((key) => [key, column(`${name}.${key}`)]));
    Object.assign(this, header);
    this.frame = table("frame", ["at", "node", "what", "trip", "words"]);
    this.trip = table("trip", ["id", "kind", "from", "to", "sent", "end", "fate", "matters"]);
    this.pose = table("pose", ["from", "node", "state", "words"]);
    this.link = table("link", ["event", "from", "to", "cut"]);
    this.length = this.frame.at.length;
    this.index();
  }

  index() {
    const { trip, pose } = this;
    // Copies of messages come after others that were sent later.
    this.order = Uint32Array.from(trip.sent.keys()).sort((a, b) => trip.sent[a] - trip.sent[b] || a - b);
    this.sentBy = Uint32Array.from(this.order, (place) => trip.sent[place]);
    this.lanes = Array.from({ length: this.nodes }, () => []);
    for (let place = 0; place < pose.from.length; place++) this.lanes[pose.node[place] - 1].push(place);
    this.checkpoints = [];
    let open = [];
    let next = 0;
    for (let from = 0; from < this.length || from === 0; from += STRIDE) {
      while (next < this.order.length && trip.sent[this.order[next]] < from) open.push(this.order[next++]);
      open = open.filter((place) => this.endOf(place) >= from);
      this.checkpoints.push(open.slice());
    }
    this.changes = [];
    for (let place = 0; place < this.length; place++) if (this.frame.words[place] !== NONE) this.changes.push(place);
  }

  /** The event in which a message ended; after the last, if it is under way at the end. */
  endOf(place) {
    const end = this.trip.end[place];
    return end === NONE ? this.length : end;
  }

  /** The last event at or before that time; −1 if there is none. */
  frameAt(us) {
    return above(this.frame.at, us) - 1;
  }

  /** The first event at or after that time; the last, if there is none. */
  frameFrom(us) {
    return Math.max(0, Math.min(below(this.frame.at, us), this.length - 1));
  }

  /** The time of an event. After the last one nothing happens until the end. */
  timeOf(frame) {
    return frame >= this.length - 1 ? this.ended : this.frame.at[frame];
  }

  /** How a node is after that event: a place among the poses. */
  poseAt(node, frame) {
    const lane = this.lanes[node - 1];
    const place = above(lane, frame, (pose) => this.pose.from[pose]) - 1;
    return place < 0 ? undefined : lane[place];
  }

  stateOf(pose) {
    return pose === undefined ? "down" : this.states[this.pose.state[pose]];
  }

  wordsOf(pose) {
    return pose === undefined ? "down" : this.words[this.pose.words[pose]];
  }

  /** Messages that are on their way at some time between these two events. */
  tripsBetween(from, to) {
    const checkpoint = Math.max(0, Math.floor(from / STRIDE));
    const found = (this.checkpoints[checkpoint] ?? []).filter((place) => this.endOf(place) >= from);
    let next = below(this.sentBy, checkpoint * STRIDE);
    for (; next < this.order.length && this.sentBy[next] <= to; next++) {
      if (this.endOf(this.order[next]) >= from) found.push(this.order[next]);
    }
    return found;
  }

  /** Messages that have been sent and not ended after that event. */
  underWay(frame) {
    return this.tripsBetween(frame, frame).filter((place) => this.endOf(place) > frame);
  }

  /** Pairs of nodes between which messages are lost after that event. */
  cuts(frame) {
    const cut = new Set();
    for (let place = 0; place < this.link.event.length && this.link.event[place] <= frame; place++) {
      const pair = `${this.link.from[place]}→${this.link.to[place]}`;
      if (this.link.cut[place]) cut.add(pair);
      else cut.delete(pair);
    }
    return [...cut];
  }

  /** How many messages of each kind were sent, and lost, up to that event. */
  counts(frame) {
    const sent = new Map();
    const lost = new Map();
    const seen = new Set();
    const last = above(this.sentBy, frame);
    for (let at = 0; at < last; at++) {
      const place = this.order[at];
      const kind = this.kinds[this.trip.kind[place]];
      const id = this.trip.id[place];
      if (!seen.has(id)) sent.set(kind, (sent.get(kind) ?? 0) + 1);
      seen.add(id);
      if (this.trip.fate[place] >= 3 && this.endOf(place) <= frame) lost.set(kind, (lost.get(kind) ?? 0) + 1);
    }
    return { sent, lost };
  }

  message(place, names) {
    const { id, kind, from, to } = this.trip;
    return `${this.kinds[kind[place]]} #${id[place]} from ${names[from[place] - 1]} to ${names[to[place] - 1]}`;
  }

  /** What happens in an event, in words. */
  tell(frame, names) {
    const trip = this.frame.trip[frame];
    const words = this.frame.words[frame];
    const said = words === NONE ? "" : this.words[words];
    if (trip === NONE) return said;
    const what = this.names[this.frame.what[frame]];
    const lost = what === "drop" ? `, ${this.fates[this.trip.fate[trip]]}` : "";
    return [this.message(trip, names) + lost, said].filter(Boolean).join("; ");
  }
}

/** The first place whose value is above. Values do not fall. */
export function above(values, limit, of = (value) => value) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(values[middle]) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first place whose value is not below. */
export function below(values, limit) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How a frame says that there is none. */
export const isNone = (number) => number === NONE;
