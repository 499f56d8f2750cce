/** Takes things from the page: files, and code for the clipboard. */

/** Gives the user a file. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * What a button does that copies the element it names.
 * @param {(id: string) => HTMLElement} at
 */
export function copyFrom(at) {
  return async ({ currentTarget: button }) => {
    const code = at(button.dataset.copy);
    getSelection().selectAllChildren(code);
    // Over plain HTTP there is no clipboard; the code is selected, ready for the user's own copy.
    const copied = await navigator.clipboard?.writeText(code.textContent).then(() => true, () => false);
    button.textContent = copied ? "Copied" : "Selected";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  };
}
