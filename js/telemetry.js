'use strict'

const { version } = require('../package.json')

/** In seconds: from a database next door to one that hardly answers. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** What each event does to the instruments. */
const RECORD = {
  leaseAcquired({ acquired, duration }, event, attributes) {
    acquired.add(1, attributes)
    took(duration, 'acquire', event, attributes)
  },
  leaseRenewed({ renewed, duration }, event, attributes) {
    renewed.add(1, attributes)
    took(duration, 'renew', event, attributes)
  },
  leaseRetry({ retries, duration }, event, attributes) {
    const failed = { ...attributes, 'error.type': event.error.code }
    retries.add(1, { ...failed, 'mintid.operation': event.operation })
    took(duration, event.operation, event, failed)
  },
  leaseLost({ lost }, event, attributes) {
    lost.add(1, { ...attributes, 'mintid.reason': event.reason })
  },
  conflict({ conflicts }, _event, attributes) {
    conflicts.add(1, attributes)
  },
  leaseReleased({ duration }, event, attributes) {
    took(duration, 'release', event, attributes)
  }
}

/**
 * OpenTelemetry metrics of one generator, where `@opentelemetry/api` is installed. Nothing in here ever throws: what goes
 * wrong with metrics must not keep IDs from being made.
 */
class Telemetry {
  #attributes
  #look
  #provider
  #instruments
  #stop = () => {}
  #closed = false
  /** Whether leases of this generator end by themselves; those that do not have no time left to tell. */
  #expires = false

  /**
   * @param {object} source
   * @param {string} source.namespace
   * @param {string} source.coordinator its kind; never its address
   * @param {() => { machineId: number | null, expiresInMs: number | null } | undefined} look the generator's health, or
   *   undefined when there is no generator any more; it must not keep the generator from being collected
   */
  constructor({ namespace, coordinator }, look) {
    this.#attributes = { 'mintid.namespace': namespace, 'mintid.coordinator': coordinator }
    this.#look = look
    this.#quietly(() => this.#attach())
  }

  /** Counts an event. */
  hear(type, event) {
    this.#quietly(() => {
      this.#attach()
      if (this.#instruments) RECORD[type]?.(this.#instruments, event, this.#attributes)
    })
  }

  /**
   * What has been counted stays. The gauges tell once more that nothing is held, and are left then: readers repeat for
   * ever what they were told last.
   */
  close() {
    this.#closed = true
  }

  /** The provider may be registered after the generator was opened: each event looks again. */
  #attach() {
    const provider = api()?.getMeterProvider()
    if (provider === this.#provider) return
    this.#provider = provider
    this.#instruments = undefined
    this.#quietly(this.#stop)
    this.#instruments = instrumentsOf(provider)
    if (!this.#closed) this.#observe()
  }

  #observe() {
    const { meter, held, expiresIn } = this.#instruments
    const observe = (result) => this.#quietly(() => this.#observed(result, held, expiresIn))
    const gauges = [held, expiresIn]
    meter.addBatchObservableCallback(observe, gauges)
    this.#stop = () => meter.removeBatchObservableCallback(observe, gauges)
  }

  #observed(result, held, expiresIn) {
    const health = this.#closed ? undefined : this.#look()
    const { machineId = null, expiresInMs = null } = health ?? {}
    this.#expires ||= expiresInMs !== null
    result.observe(held, machineId === null ? 0 : 1, this.#attributes)
    if (this.#expires) result.observe(expiresIn, (expiresInMs ?? 0) / 1000, this.#attributes)
    // Not at once: the collector is walking over its list of callbacks.
    if (health === undefined) queueMicrotask(() => this.#quietly(this.#stop))
  }

  #quietly(work) {
    try {
      work()
    } catch {}
  }
}

/** A lease that somebody else in this process holds already takes no time to join: that is no operation. */
function took(duration, operation, { durationMs }, attributes) {
  if (durationMs > 0) duration.record(durationMs / 1000, { ...attributes, 'mintid.operation': operation })
}

let found

/** The metrics of `@opentelemetry/api`, or null where it is not installed. Looked for once. */
function api() {
  if (found === undefined) {
    try {
      found = require('@opentelemetry/api').metrics ?? null
    } catch {
      found = null
    }
  }
  return found
}

const made = new WeakMap()

/** All generators of one thread share their instruments. */
function instrumentsOf(provider) {
  if (!made.has(provider)) made.set(provider, instruments(provider.getMeter('mintid', version)))
  return made.get(provider)
}

function instruments(meter) {
  const counter = (name, unit, description) => meter.createCounter(name, { unit, description })
  return {
    meter,
    acquired: counter('mintid.lease.acquired', '{lease}', 'Leases acquired'),
    renewed: counter('mintid.lease.renewed', '{renewal}', 'Leases renewed'),
    retries: counter('mintid.lease.retries', '{attempt}', 'Attempts on a lease that failed and are made again'),
    lost: counter('mintid.lease.lost', '{lease}', 'Leases lost'),
    conflicts: counter(
      'mintid.lease.conflicts',
      '{conflict}',
      'Guarded machine IDs found to be held by another process'
    ),
    duration: meter.createHistogram('mintid.lease.operation.duration', {
      unit: 's',
      description: 'How long the coordinator took to answer',
      advice: { explicitBucketBoundaries: BUCKETS }
    }),
    held: meter.createObservableGauge('mintid.lease.held', {
      unit: '{lease}',
      description: 'Whether a lease is held: 1 or 0'
    }),
    expiresIn: meter.createObservableGauge('mintid.lease.expires_in', {
      unit: 's',
      description: 'How long the lease lasts unless it is renewed'
    })
  }
}

module.exports = { Telemetry }
