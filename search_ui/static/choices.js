// Keyboard shortcuts of pages on which each choice is a button with a key: proposed relations, definitions. Every form
// works without this file.
"use strict";

const list = document.querySelector("[data-position]"); // what is decided one after the other; not on the page of one term
const rows = list ? Array.from(list.children) : [];
let current = 0;
let isLeaving = false; // a choice reloads the page; a second key does not choose again

function goTo(index) {
  if (rows.length === 0) return;
  current = Math.max(0, Math.min(index, rows.length - 1));
  rows[current].focus({ preventScroll: true });
  rows[current].scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isLeaving) return;
  if (event.target.closest("input:not([type=hidden]), textarea, select")) return;
  const key = event.key.toLowerCase();
  if (rows.length > 0 && (key === "j" || key === "k")) return goTo(current + (key === "j" ? 1 : -1));
  const buttons = Array.from(document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`));
  const target = buttons.find((button) => rows[current]?.contains(button) || !list?.contains(button));
  if (!target || target.disabled || event.repeat || (list && !("ready" in list.dataset))) return;
  event.preventDefault();
  isLeaving = true;
  target.click();
});

window.addEventListener("pageshow", () => {
  isLeaving = false;
  requestAnimationFrame(() => setTimeout(() => { if (list) list.dataset.ready = ""; }, Number(list?.dataset.unread)));
});
rows.forEach((row, index) => row.addEventListener("focusin", () => { current = index; }));
goTo(list ? Number(list.dataset.position) : 0);
