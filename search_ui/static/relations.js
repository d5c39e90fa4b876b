// Keyboard shortcuts of the page of proposed relations. Every form works without this file.
"use strict";

const list = document.getElementById("relations");
const proposals = list ? Array.from(list.children) : [];
let current = 0;
let isLeaving = false; // a decision reloads the page; a second key does not decide again

function goTo(index) {
  if (proposals.length === 0) return;
  current = Math.max(0, Math.min(index, proposals.length - 1));
  proposals[current].focus({ preventScroll: true });
  proposals[current].scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isLeaving) return;
  if (event.target.closest("input:not([type=hidden]), textarea, select")) return;
  const key = event.key.toLowerCase();
  if (key === "j" || key === "k") return goTo(current + (key === "j" ? 1 : -1));
  const scope = key === "u" ? document : proposals[current];
  const target = "arou".includes(key) && scope && scope.querySelector(`[data-key="${key}"]`);
  if (!target || event.repeat) return;
  event.preventDefault();
  isLeaving = true;
  target.click();
});

window.addEventListener("pageshow", () => { isLeaving = false; });
proposals.forEach((proposal, index) => proposal.addEventListener("focusin", () => { current = index; }));
goTo(list ? Number(list.dataset.position) : 0);
