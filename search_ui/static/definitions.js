// Checks the length of a definition that a reviewer writes. The form works without this file.
"use strict";

const ownDefinition = document.getElementById("own-definition");

ownDefinition.addEventListener("input", () => {
  const { limit, tooLong } = ownDefinition.dataset;
  const length = [...ownDefinition.value.trim().replace(/\s+/g, " ")].length;
  ownDefinition.setCustomValidity(length > Number(limit) ? tooLong.replace("{length}", length) : "");
});
