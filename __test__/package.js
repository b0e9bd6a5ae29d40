'use strict'

const { dirname, join } = require('node:path')

/** The package under test: this checkout, or where these tests were copied to, the installed tarball. */
const root = dirname(require.resolve('mintid/package.json'))

/** A file of the package, also one that it does not export. */
function inPackage(...names) {
  return join(root, ...names)
}

module.exports = { root, inPackage }
