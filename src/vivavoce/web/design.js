/** A voice described by a closed vocabulary: one choice a category. No DOM. */

/** @typedef {{name: string, options: string[]}} Category */

/** Categories that belong to one language's text. */
const ONLY_FOR = { accent: "en", dialect: "zh" };

/**
 * @param {Category[]} categories
 * @param {string} base the text's language, without region.
 * @returns {Category[]} those that make sense for it.
 */
export function categoriesFor(categories, base) {
  return categories.filter(({ name }) => ONLY_FOR[name] === undefined || ONLY_FOR[name] === base);
}

/**
 * @param {Record<string, string>} choices by category; "" where anything will do.
 * @param {Category[]} categories those offered, in their order.
 * @returns {string} the design as a request says it.
 */
export function instructOf(choices, categories) {
  return categories.map(({ name }) => choices[name]).filter(Boolean).join(", ");
}

/** An option as a list shows it: without the word that its category says already. */
export function optionLabel(option, category) {
  const short = option.replace(new RegExp(` ${category}$`), "");
  return short.charAt(0).toUpperCase() + short.slice(1);
}
