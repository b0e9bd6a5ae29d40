'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { mintidOn } = require('./cli.js')

const ANSWERS = {
  setup: { created: false, notBefore: 0, now: 0, machineIds: 511 },
  leases: [],
  examine: { server: 'PostgreSQL 17.2', checks: [] }
}

for (const [command, name] of [
  ['setup', 'setup'],
  ['leases', 'leases'],
  ['doctor', 'examine']
]) {
  const run = (args, env) => mintidOn(ANSWERS, [command, ...args], { env })

  test(`${command}: the URL of MINTID_URL, and that of --url before it`, () => {
    const [{ name: asked, options }] = run([]).calls
    assert.deepEqual([asked, options.url], [name, 'postgres://user:secret@db.invalid/app'])
    assert.equal(run(['--url', 'postgresql://h/d']).calls[0].options.url, 'postgresql://h/d')
  })

  for (const [args, MINTID_URL, expected] of [
    [[], '', /expected a URL like postgres:.* in MINTID_URL or --url; there is no --url/],
    [['--url='], 'postgres://h/d', /; --url is empty/],
    [[], 'file:///var/lib/ids', /^mintid: ERR_MINTID_CONFIG: MINTID_URL: mintid \w+ is not supported for directories/],
    [['--url', 'local'], '', /--url: mintid \w+ is not supported for directories, which have no registry/],
    [['--url', 'none'], '', /--url: mintid \w+ is not supported for 'none'/],
    [['--url', 'mongodb://user:secret@h/d'], '', /--url: expected .* found a URL with the scheme mongodb:/],
    [['--url', 'prisma://user:secret@h/d'], '', /--url: expected .* only Prisma/],
    [['--namespace', 'a b'], 'postgres://user:secret@h/d', /namespace: expected 1 to 64 characters/]
  ]) {
    test(`${command}: refused: ${args.join(' ')} ${MINTID_URL}`, () => {
      const { status, stdout, stderr, calls } = run(args, { MINTID_URL })
      assert.deepEqual([status, stdout, calls], [1, '', []])
      assert.match(stderr, /^mintid: ERR_MINTID_CONFIG: /)
      assert.match(stderr, expected)
      assert.doesNotMatch(stderr, /secret/)
    })
  }
}
