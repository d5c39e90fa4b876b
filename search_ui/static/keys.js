// Keyboard shortcuts: "/" goes to the search box, j and k move through the results, and so do the arrow keys once a
// result has the focus. Single keys disturb some readers (speech input), so the help page can turn them off.
"use strict";

const STORAGE_KEY = "plumbline-keys"; // value: "off"
const RESULT_SELECTOR = "#hits > li, #related-hits > li, #newest > li";

function areOff() {
  try {
    return localStorage.getItem(STORAGE_KEY) === "off";
  } catch {
    return false; // storage can be disabled
  }
}

function isTyping(target) {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

function go(step) {
  const hits = [...document.querySelectorAll(RESULT_SELECTOR)].filter((hit) => hit.querySelector("a"));
  const current = hits.findIndex((hit) => hit.contains(document.activeElement));
  const next = current < 0 && step < 0 ? -1 : current + step;
  if (next < 0) return toBox();
  if (next >= hits.length) return false;
  const link = hits[next].querySelector("h2 a, h3 a, a");
  link.focus();
  hits[next].scrollIntoView({ block: "nearest" });
  return true;
}

function toBox() {
  const box = document.getElementById("q");
  if (!box) return false;
  box.focus();
  box.select();
  return true;
}

// Before all other listeners of the site: a single key that is turned off reaches none of them.
window.addEventListener("keydown", (event) => {
  const isSingle = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (isSingle && !isTyping(event.target) && areOff()) event.stopImmediatePropagation();
}, true);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event.target)) return;
  const isOnHit = document.activeElement !== null && document.activeElement.closest(RESULT_SELECTOR) !== null;
  const steps = { j: 1, k: -1, ...(isOnHit ? { ArrowDown: 1, ArrowUp: -1 } : {}) };
  if (event.key === "/" ? toBox() : event.key in steps && go(steps[event.key])) event.preventDefault();
});

// The switch on the help page. It is hidden without this file.
const choice = document.getElementById("keys-switch");
if (choice) {
  choice.closest("[hidden]").hidden = false;
  choice.checked = !areOff();
  choice.addEventListener("change", () => {
    try {
      if (choice.checked) localStorage.removeItem(STORAGE_KEY);
      else localStorage.setItem(STORAGE_KEY, "off");
    } catch {
      choice.checked = true;
    }
  });
}

// Remove pictures that fail to load, without a gap.
function drop(picture) {
  const hit = picture.closest(".pictured");
  if (hit) hit.classList.remove("pictured");
  picture.remove();
}
document.addEventListener("error", (event) => {
  if (event.target instanceof Element && event.target.matches("img.thumb")) drop(event.target);
}, true);
document.querySelectorAll("img.thumb").forEach((picture) => {
  if (picture.complete && picture.naturalWidth === 0) drop(picture);
});
