// The tour: a story, something to do, and what comes of it.

import * as api from "./api.js";
import { $, fill } from "../common.js";

/** `open` shows a scenario, `beside` another one beside it. */
export async function prepare({ open, beside }) {
  const lessons = await api.tour();
  fill($("lesson"), [["", "choose one"], ...lessons.map(({ title }, at) => [String(at), `${at + 1}. ${title}`])]);
  const lesson = () => lessons[Number($("lesson").value)];

  $("lesson").addEventListener("change", async () => {
    const chosen = $("lesson").value !== "";
    $("lesson-text").hidden = !chosen;
    $("lesson-answer").hidden = true;
    if (!chosen) return;
    $("lesson-story").textContent = lesson().story;
    $("lesson-task").textContent = lesson().task;
    await open(lesson().text, `lesson-${Number($("lesson").value) + 1}`);
  });

  $("lesson-show").addEventListener("click", async () => {
    $("lesson-answer").textContent = lesson().answer;
    $("lesson-answer").hidden = false;
    await open(lesson().text, `lesson-${Number($("lesson").value) + 1}`);
    await beside(lesson().done);
  });
}
