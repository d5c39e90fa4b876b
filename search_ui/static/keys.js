// Keys for readers: "/" goes to the search box, j and k walk the results, the arrows do once one of them has the focus.
// Single keys can be in somebody's way (speech input), so the help page switches them off.
"use strict";

const SWITCH = "plumbline-keys"; // in this browser's storage: "off"
const LISTED = "#hits > li, #newest > li";

function areOff() {
  try {
    return localStorage.getItem(SWITCH) === "off";
  } catch {
    return false; // storage may be forbidden
  }
}

function isTyping(target) {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

function go(step) {
  const hits = [...document.querySelectorAll(LISTED)].filter((hit) => hit.querySelector("a"));
  const present = hits.findIndex((hit) => hit.contains(document.activeElement));
  const next = present < 0 && step < 0 ? -1 : present + step;
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

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event.target)) return;
  const isOnHit = document.activeElement !== null && document.activeElement.closest(LISTED) !== null;
  const steps = { j: 1, k: -1, ...(isOnHit ? { ArrowDown: 1, ArrowUp: -1 } : {}) };
  if (areOff()) return;
  if (event.key === "/" ? toBox() : event.key in steps && go(steps[event.key])) event.preventDefault();
});

// The switch on the help page, which only works with this file and so is only shown by it.
const choice = document.getElementById("keys-switch");
if (choice) {
  choice.closest("[hidden]").hidden = false;
  choice.checked = !areOff();
  choice.addEventListener("change", () => {
    try {
      if (choice.checked) localStorage.removeItem(SWITCH);
      else localStorage.setItem(SWITCH, "off");
    } catch {
      choice.checked = true;
    }
  });
}

// A picture that could not be had leaves no gap.
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
