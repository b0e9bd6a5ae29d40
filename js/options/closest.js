'use strict'

/** More edits than this, and the user meant something else. */
const MOST_EDITS = 2

/**
 * The word that a mistyped one was probably meant to be.
 *
 * @param {string} typed
 * @param {string[]} words
 * @returns {string | undefined}
 */
function closest(typed, words) {
  if (typed.length > 64) return undefined
  const ranked = words
    .map((word) => ({ word, edits: distance(typed.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, edits }) => edits <= MOST_EDITS && edits < word.length / 2)
    .sort((a, b) => a.edits - b.edits)
  return ranked[0]?.word
}

/** Insertions, deletions and substitutions between two words (Levenshtein), one row of the table at a time. */
function distance(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let line = 1; line <= from.length; line++) {
    const next = [line]
    for (let column = 1; column <= to.length; column++) {
      const substituted = row[column - 1] + (from[line - 1] === to[column - 1] ? 0 : 1)
      next.push(Math.min(substituted, row[column] + 1, next[column - 1] + 1))
    }
    row = next
  }
  return row[to.length]
}

module.exports = { closest }
