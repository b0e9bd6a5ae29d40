'use strict'

// `npm run bench`: installs, builds, and runs the benchmark (benchmark/run.js); what follows `--` goes there.

const { setup, run } = require('./setup.js')

setup()
run(process.execPath, ['benchmark/run.js', ...process.argv.slice(2)])
