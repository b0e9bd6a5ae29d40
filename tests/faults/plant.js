'use strict'

const { appendFileSync, openSync, readFileSync } = require('node:fs')
const { RecordWriter, Records, SIZE, pack } = require('./records.js')

const YEAR_MS = 365 * 24 * 3600 * 1000

/** What `--plant` adds to a holder's records, so that everybody can see a run fail as it should. */
const PLANTS = {
  /** An ID that was emitted twice. */
  duplicate(file) {
    appendFileSync(file, readFileSync(file).subarray(0, SIZE))
  },

  /** An ID of a time that no lease was for. */
  outside(file) {
    const records = new Records(readFileSync(file))
    const parts = { timestamp: records.timestamp(0) + YEAR_MS, machineId: records.machineId(0), count: 0 }
    const writer = new RecordWriter(openSync(file, 'a'), 1)
    writer.add(pack(parts), parts, 0, 0)
    writer.flush()
  }
}

const plant = (file, what) => PLANTS[what](file)

module.exports = { PLANTS, plant }
