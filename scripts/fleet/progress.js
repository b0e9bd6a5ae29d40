'use strict'

const WIDTH = 32

/** One bar a process: redrawn in place on a terminal, a line a quarter elsewhere. */
class Progress {
  #target
  #rows = []
  #drawn = 0
  #drawnAt = 0

  constructor(target) {
    this.#target = target
  }

  /** Adds a row and returns it; set its `count` and `note`, then `show()`. */
  add(name) {
    const row = { name, note: '', count: 0, quarter: 0 }
    this.#rows.push(row)
    return row
  }

  show(now = false) {
    if (process.stdout.isTTY) this.#draw(now)
    else this.#report()
  }

  #draw(now) {
    if (!now && Date.now() - this.#drawnAt < 50) return
    this.#drawnAt = Date.now()
    const up = this.#drawn ? `\x1b[${this.#drawn}A` : ''
    this.#drawn = this.#rows.length
    process.stdout.write(`${up}${this.#rows.map((row) => `\x1b[2K${this.#line(row)}\n`).join('')}`)
  }

  #report() {
    for (const row of this.#rows) {
      const quarter = Math.floor((4 * row.count) / this.#target)
      if (quarter > row.quarter || (row.note && row.note !== row.reported)) process.stdout.write(`${this.#line(row)}\n`)
      row.quarter = quarter
      row.reported = row.note
    }
  }

  #line({ name, note, count }) {
    const filled = Math.round((WIDTH * count) / this.#target)
    const bar = '█'.repeat(filled).padEnd(WIDTH, '·')
    return `  ${name.padEnd(10)} ${bar} ${count.toLocaleString('en').padStart(9)}  ${note}`
  }
}

module.exports = { Progress }
