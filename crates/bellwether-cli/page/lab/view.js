// One run on the page: its heading, and its diagram, which can be moved, zoomed and pointed at.

import { Diagram } from "./diagram.js";
import { h } from "../common.js";

export class Pane {
  /** `point` is called with an event that is pointed at, `move` whenever the diagram was moved by hand. */
  constructor(run, { point, key }) {
    this.run = run;
    this.canvas = h("canvas", { tabindex: "0", role: "img", keydown: key });
    this.verdict = h("span", { class: "verdict" });
    this.heading = h("h3", {}, h("strong", {}, run.label), this.verdict, h("span", { class: "quiet" }, about(run)));
    this.element = h("div", { class: "pane" }, this.heading, this.canvas);
    this.diagram = new Diagram(this.canvas);
    this.listen(point);
  }

  start() {
    const { film, about: said } = this.run;
    const marks = this.run.broken.map((promise) => ({ us: promise.broken.at_us, name: promise.name }));
    this.diagram.show(film, said.nodes, marks);
    this.diagram.open();
  }

  listen(point) {
    const { canvas, diagram } = this;
    let from;
    let moved = 0;
    canvas.addEventListener("pointerdown", (event) => {
      [from, moved] = [event.offsetX, 0];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from === undefined) return;
      moved += Math.abs(event.offsetX - from);
      if (moved > 4) {
        diagram.pan(from - event.offsetX);
        diagram.draw();
      }
      from = event.offsetX;
    });
    canvas.addEventListener("pointerup", (event) => {
      if (moved <= 4) point(diagram.frameNear(event.offsetX, event.offsetY));
      from = undefined;
    });
    canvas.addEventListener("pointercancel", () => (from = undefined));
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) diagram.zoomBy(Math.exp(-event.deltaY / 300), event.offsetX);
        else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) diagram.pan(event.deltaX || event.deltaY);
        else return;
        event.preventDefault();
        diagram.draw();
      },
      { passive: false },
    );
  }

  /** Shows the run at that event; at `x`, if the diagram is to be there. */
  at(frame, x) {
    const { diagram, run } = this;
    diagram.frame = Math.max(0, Math.min(frame, run.film.length - 1));
    diagram.follow(x);
    diagram.draw();
    this.canvas.setAttribute("aria-label", `Space-time diagram of ${run.label}. ${run.sentence(diagram.frame)}`);
  }

  judge(us) {
    const broken = this.run.broken.filter((promise) => promise.broken.at_us <= us);
    this.verdict.textContent = broken.length ? `broken: ${broken.map((one) => one.name).join(", ")}` : "holds so far";
    this.verdict.className = `verdict ${broken.length ? "breaks" : "holds"}`;
  }
}

function about({ about: said, film }) {
  const seed = said.seed === undefined ? "recorded" : `seed ${said.seed}`;
  return `${said.protocol} ${said.variant} · ${said.nodes.length} nodes · ${seed} · ${film.length} events`;
}
