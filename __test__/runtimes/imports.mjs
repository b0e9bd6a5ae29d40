// Run by runtimes.test.js on each runtime: the names that `import` finds.

import * as all from 'mintid'
import { IdGenerator, idType, MintidError, start, stop } from 'mintid'

for (const found of [IdGenerator, idType, MintidError, start, stop]) {
  if (typeof found !== 'function') throw new Error(`${found} was imported`)
}
console.log(JSON.stringify(Object.keys(all)))
