'use strict'

/**
 * All scenarios by name, in the table's order. Each has:
 *
 * - `title`: the fault, as the table says it
 * - `run(stage)`: brings it about, and waits until everybody mints again
 * - `server`, `framing`: whether it is for coordinators with a server (there is a proxy then), with requests that can be
 *   repeated; `needs`: the methods that a coordinator must have for it; `only`: else the coordinators that it is for
 * - `made`: how its coordinator is made (the last argument of `create`); `lease`: what differs from the stage's
 * - `short`: whether it is part of the short form, or on which coordinators: what mintid does all by itself is the same on
 *   all of them
 */
const scenarios = {
  ...require('./pause.js'),
  ...require('./kill.js'),
  ...require('./guarded.js'),
  ...require('./clocks.js'),
  ...require('./server.js'),
  ...require('./persistence.js'),
  ...require('./network.js'),
  ...require('./settings.js'),
  ...require('./exhausted.js'),
  ...require('./closing.js'),
  ...require('./workers.js'),
  ...require('./redis.js'),
  ...require('./forgetting.js'),
  ...require('./failover.js'),
  ...require('./rolling.js')
}

/** Whether a scenario can be played on a coordinator. */
function fits({ server = false, framing = false, needs = [], only }, name, Coordinator) {
  if (only) return only.includes(name)
  if ((server && !Coordinator.server) || (framing && !Coordinator.framing)) return false
  return needs.every((method) => method in Coordinator.prototype)
}

/** Whether a scenario is part of the short form on a coordinator. */
function isShort(scenario, on, Coordinator) {
  if (Coordinator.short) return Coordinator.short.includes(scenario)
  const { short = false } = scenarios[scenario]
  return Array.isArray(short) ? short.includes(on) : short
}

module.exports = { fits, isShort, scenarios }
