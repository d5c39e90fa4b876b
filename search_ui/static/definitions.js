// Keyboard shortcuts of the page of one term: choose a definition, undo. Every form works without this file.
"use strict";

const ownDefinition = document.getElementById("own-definition");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  if (event.target.closest("input:not([type=hidden]), textarea, select")) return;
  const button = document.querySelector(`#definition-choice [data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!button) return;
  event.preventDefault();
  button.click();
});

function checkLength() {
  const { limit, tooLong } = ownDefinition.dataset;
  const length = [...ownDefinition.value.trim().replace(/\s+/g, " ")].length;
  ownDefinition.setCustomValidity(length > Number(limit) ? tooLong.replace("{length}", length) : "");
}

ownDefinition.addEventListener("input", checkLength);
