'use strict'

/**
 * What a binary log in row format, as `mysqlbinlog --verbose` prints it, says of leases. A commit is written there before
 * the engine commits and before anybody is told, into a file that a server which is killed leaves behind: so it has
 * every lease that was ever granted, also those that the tables forgot, and nothing that was rolled back.
 *
 * @param {string} text its bytes, as Latin-1
 * @param {{ letters: boolean }} how `letters`: it is MySQL's
 * @returns {{ namespace: string, id: number, token: string, expires: number, released: boolean }[]} in their order
 */
function changesIn(text, { letters }) {
  const changes = []
  for (const [, before, after] of text.matchAll(LEASE)) {
    const [old, row] = [columnsIn(before ?? '', letters), columnsIn(after, letters)]
    const token = row.get(TOKEN) ?? old.get(TOKEN)
    if (token === undefined) continue
    changes.push({
      namespace: row.get(NAMESPACE).toString(),
      id: Number(row.get(ID)),
      token: hexOf(token),
      expires: Date.parse(`${row.get(EXPIRES).toString().slice(0, 23).replace(' ', 'T')}Z`),
      released: row.get(TOKEN) === undefined
    })
  }
  return changes
}

const [NAMESPACE, ID, TOKEN, EXPIRES] = ['1', '2', '3', '4']
const LEASE =
  /^### (?:INSERT INTO|UPDATE) `\w+`\.`mintid_leases`\n(?:### WHERE\n((?:### {3}@.*\n)+))?### SET\n((?:### {3}@.*\n)+)/gm
const COLUMN = /^### {3}@(\d+)=(.*)$/gm

/** The columns of a row that are not null, by their number: a text's bytes, or a number as it is printed. */
function columnsIn(lines, letters) {
  const found = [...lines.matchAll(COLUMN)].filter(([, , value]) => value !== 'NULL')
  return new Map(
    found.map(([, number, value]) => [number, value.startsWith("'") ? bytesOf(value.slice(1, -1), letters) : value])
  )
}

/** MySQL escapes with letters too; MariaDB does not escape the backslash itself. */
function bytesOf(quoted, letters) {
  const byte = (_, hex, letter) => (hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (LETTERS[letter] ?? letter))
  return Buffer.from(quoted.replace(letters ? /\\(?:x([0-9a-f]{2})|(.))/gi : /\\x([0-9a-f]{2})/gi, byte), 'latin1')
}

const LETTERS = { 0: '\0', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** A fixed number of bytes is logged without the zeros at its end. */
const hexOf = (token) => token.toString('hex').padEnd(32, '0')

module.exports = { changesIn }
