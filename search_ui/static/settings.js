// Finds settings while typing. Without this file all groups are folds that open by hand.
"use strict";

const filterBox = document.getElementById("filter");

if (filterBox) {
  const groups = [...document.querySelectorAll(".settings-group")];
  const openGroups = new Set(groups.filter((group) => group.open));
  const count = document.getElementById("filter-count");
  document.getElementById("settings-filter").hidden = false;

  filterBox.addEventListener("input", () => {
    const words = filterBox.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    let matchCount = 0;
    for (const group of groups) {
      let groupCount = 0;
      for (const setting of group.querySelectorAll(".setting")) {
        const text = setting.textContent.toLocaleLowerCase();
        const isMatch = words.every((word) => text.includes(word));
        setting.hidden = !isMatch;
        groupCount += isMatch;
      }
      group.hidden = groupCount === 0;
      group.open = words.length ? groupCount > 0 : openGroups.has(group);
      matchCount += groupCount;
    }
    count.textContent = words.length ? matchCount || count.dataset.none : "";
  });
}
