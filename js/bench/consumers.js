'use strict'

/**
 * What happens to IDs after they were made, so that it shows when making them is cheap only because using them is dear
 * (a rope that is flattened later, a slice of something big). A consumer says for each kind of value what it does with
 * `id`; where it says nothing, it has no use for such values.
 */
const consumers = {
  bytes: {
    title: 'kept in an array, then their bytes read',
    text: 'sum += Buffer.byteLength(id)',
    bigint: 'if (id === 0n) sum++',
    pair: 'sum += Buffer.byteLength(id.id); if (id.db === 0n) sum++'
  },
  map: {
    title: 'kept in an array, then keys of a Map',
    text: 'map.set(id, true)',
    bigint: 'map.set(id, true)',
    pair: 'map.set(id.id, id.db)'
  },
  json: {
    title: 'kept in an array, then JSON.stringify of each',
    text: 'sum += JSON.stringify(id).length'
  },
  write: {
    title: 'kept in an array, then written to a Buffer',
    text: `sum += buffer.write(id, 0, 'latin1')`,
    bigint: 'sum += buffer.writeBigInt64BE(id)',
    pair: `sum += buffer.write(id.id, 0, 'latin1') + buffer.writeBigInt64BE(id.db, 16)`
  }
}

/**
 * Compiles the loop of one contender under one consumer. Each has a source of its own, so that the engine learns about
 * each alone.
 *
 * @param {object} contender
 * @param {string} contender.call the expression that makes an ID, or a list of `atOnce` of them; in it `i` is how many
 * IDs the loop made before
 * @param {'text' | 'bigint' | 'pair'} contender.gives what an ID is
 * @param {number} [contender.atOnce]
 * @param {object} contender.scope what the expression names
 * @param {keyof typeof consumers} consumer
 * @returns {undefined | ((n: number) => { sum: number, distinct: number })} makes and uses `n` IDs; `distinct` of them,
 * where the consumer counts that. Undefined where the consumer has no use for them
 */
function compileLoop({ call, gives, atOnce = 1, scope }, consumer) {
  const use = consumers[consumer][gives]
  if (use === undefined) return undefined
  const useAll = atOnce === 1 ? use : `for (let k = 0; k < made.length; k++) { const id = made[k]; ${use} }`
  const source = `'use strict'
    const buffer = Buffer.alloc(64)
    return (n) => {
      const kept = []
      const map = new Map()
      let sum = 0
      for (let i = 0; i < n; i += ${atOnce}) kept.push(${call})
      for (const ${atOnce === 1 ? 'id' : 'made'} of kept) { ${useAll} }
      return { sum, distinct: map.size }
    }`
  return new Function('Buffer', ...Object.keys(scope), source)(Buffer, ...Object.values(scope))
}

module.exports = { consumers, compileLoop }
