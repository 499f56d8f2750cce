() => {
  window.lit = [];
  const now = document.querySelector(".mirror .now");
  new MutationObserver(() => {
    const word = now.classList.contains("lit") ? now.textContent : "";
    if (word && word !== lit.at(-1)) lit.push(word);
  }).observe(now, { childList: true, attributes: true, characterData: true, subtree: true });
}
