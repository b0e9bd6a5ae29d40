'use strict'

// What an operator sees of a process: stats(), health(), diagnostics channels, OpenTelemetry metrics. It must be what the
// process's own events say.

const assert = require('node:assert/strict')
const { subscribe } = require('node:diagnostics_channel')
const { metrics } = require('@opentelemetry/api')
const { MeterProvider, MetricReader } = require('@opentelemetry/sdk-metrics')

/** By the name of the event: the name of its count in `stats()`, and of its metric. */
const COUNTS = {
  leaseAcquired: 'acquired',
  leaseRenewed: 'renewed',
  leaseRetry: 'retries',
  leaseLost: 'lost',
  conflict: 'conflicts'
}

/** Collects when it is asked to. */
class Reader extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

/** Begins to look, before there is a generator; the result tells what was seen of it. */
function observe() {
  const reader = new Reader()
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  const heard = {}
  for (const name of Object.keys(COUNTS)) {
    heard[name] = 0
    subscribe(`mintid:${name}`, () => heard[name]++)
  }
  return async (ids) => {
    const before = ids.stats()
    const measured = sums(await reader.collect())
    return { before, measured, after: ids.stats(), health: ids.health(), machineId: ids.machineId, heard }
  }
}

function sums({ resourceMetrics }) {
  const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
  const sum = ({ dataPoints }) => dataPoints.reduce((total, { value }) => total + value, 0)
  return Object.fromEntries(all.map((metric) => [metric.descriptor.name, sum(metric)]))
}

/** Compares what a process said of itself with the events that it told before. */
async function agrees(process) {
  const answer = await process.asked('observed')
  const { before, measured, after, health, machineId, heard } = answer.value
  const events = process.events.slice(0, process.events.indexOf(answer))
  for (const [name, count] of Object.entries(COUNTS)) {
    const told = events.filter(({ event }) => event === name).length
    assert.equal(after[count], told, `${process.name}: stats().${count}`)
    assert.equal(heard[name], told, `${process.name}: channel mintid:${name}`)
    const metric = measured[`mintid.lease.${count}`] ?? 0
    assert.ok(before[count] <= metric && metric <= told, `${process.name}: metric of ${name}: ${metric} of ${told}`)
  }
  assert.equal(health.status === 'unavailable', machineId === null, `${process.name}: health() says ${health.reason}`)
}

module.exports = { agrees, observe }
