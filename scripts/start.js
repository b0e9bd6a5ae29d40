'use strict'

// `npm start`: installs, builds, and runs the main job (scripts/fleet).

const { setup, run } = require('./setup.js')

setup()
run(process.execPath, ['scripts/fleet/main.js', ...process.argv.slice(2)])
