'use strict'

// Preloaded into `mintid` by `mintidOn`: what native code would answer, and a note of each question.

const { appendFileSync } = require('node:fs')
const { inPackage } = require('../package.js')
const { backend } = require(inPackage('js/native.js'))

const { answers, file } = JSON.parse(process.env.FAKE_NATIVE)

for (const [name, answer] of Object.entries(answers)) {
  backend[name] = async (options, mode) => {
    appendFileSync(file, `${JSON.stringify({ name, options, mode })}\n`)
    return answer
  }
}
