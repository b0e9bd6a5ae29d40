'use strict'

// The network must fail as it is told to: each fault of the proxy, seen from both of its ends.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const { test } = require('node:test')
const { Mailbox } = require('../../../__test__/support/mailbox.js')
const { within } = require('../../../__test__/support/within.js')
const { now } = require('../clock.js')
const { TcpProxy } = require('../proxy.js')

/** A server that answers each letter with its capital, and a proxy in front of it. */
async function network(t, framing) {
  const heard = new Mailbox()
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      for (const letter of String(bytes)) heard.put(letter)
      socket.write(String(bytes).toUpperCase())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await new TcpProxy(() => ({ host: '127.0.0.1', port: server.address().port }), framing).listen()
  t.after(async () => {
    await proxy.close()
    server.close()
  })
  return { proxy, heard: () => within(heard.take(), () => 'the server heard nothing'), rest: () => heard.rest() }
}

/** A client whose answers come letter by letter; the end of its connection is one too. */
async function client(t, { port }) {
  const socket = net.connect({ host: '127.0.0.1', port })
  const answers = new Mailbox()
  socket.on('data', (bytes) => {
    for (const letter of String(bytes)) answers.put(letter)
  })
  socket.on('error', ({ code }) => answers.put(code))
  socket.on('end', () => answers.put('end'))
  t.after(() => socket.destroy())
  const said = (text) => socket.write(text)
  return { socket, said, answer: () => within(answers.take(), () => 'no answer'), rest: () => answers.rest() }
}

/** A round trip on another connection: by then what was on its way before has arrived, or never will. */
async function meanwhile(t, proxy) {
  const other = await client(t, proxy)
  other.said('z')
  assert.equal(await other.answer(), 'Z')
}

test('everything arrives, and an end is passed on', async (t) => {
  const { proxy, heard } = await network(t)
  const { said, answer, socket } = await client(t, proxy)
  said('ab')
  assert.deepEqual([await answer(), await answer(), await heard()], ['A', 'B', 'a'])
  assert.equal(proxy.connections, 1)
  socket.end()
  await once(socket, 'close')
})

test('cut: nothing arrives in either direction, and afterwards the connection is reset', async (t) => {
  const { proxy, rest } = await network(t)
  const { said, answer, rest: answers } = await client(t, proxy)
  said('a')
  assert.equal(await answer(), 'A')
  await proxy.cut()
  said('b')
  const late = await client(t, proxy)
  late.said('c')
  await once(late.socket, 'connect')
  await proxy.pass()
  assert.deepEqual([await answer(), await late.answer()], ['ECONNRESET', 'ECONNRESET'])
  await meanwhile(t, proxy)
  assert.deepEqual([rest(), answers()], [['a', 'z'], []])
})

test('lost answers: the request is executed, nobody is told', async (t) => {
  const { proxy, heard } = await network(t)
  const { said, answer, rest } = await client(t, proxy)
  said('a')
  assert.deepEqual([await answer(), await heard()], ['A', 'a'])
  await proxy.loseAnswers()
  said('b')
  assert.equal(await heard(), 'b')
  assert.deepEqual(rest(), [])
  // Whether the answer is lost can only be known when it has come: it comes before that of a later connection's.
  const other = await client(t, proxy)
  other.said('c')
  assert.equal(await heard(), 'c')
  await proxy.pass()
  assert.equal(await answer(), 'ECONNRESET')
})

test('held: all of it arrives at the end, in order, a connection that was made meanwhile too', async (t) => {
  const { proxy, heard, rest } = await network(t)
  const early = await client(t, proxy)
  early.said('a')
  assert.deepEqual([await heard(), await early.answer()], ['a', 'A'])
  await proxy.hold()
  const late = await client(t, proxy)
  early.said('b')
  early.said('c')
  late.said('d')
  await once(late.socket, 'connect')
  assert.deepEqual(rest(), [])
  await proxy.pass()
  assert.deepEqual([await early.answer(), await early.answer(), await late.answer()], ['B', 'C', 'D'])
})

test('delayed: each way takes that much longer', async (t) => {
  const { proxy } = await network(t)
  const { said, answer } = await client(t, proxy)
  await proxy.delay(150)
  const began = now()
  said('a')
  assert.equal(await answer(), 'A')
  const took = now() - began
  assert.ok(took >= 299 && took < 2000, `${took} ms`)
})

test('refused: no new connections, the old ones are reset; then the same port again', async (t) => {
  const { proxy } = await network(t)
  const early = await client(t, proxy)
  early.said('a')
  await early.answer()
  await proxy.refuse()
  assert.equal(await early.answer(), 'ECONNRESET')
  assert.equal(await (await client(t, proxy)).answer(), 'ECONNREFUSED')
  await proxy.pass()
  await meanwhile(t, proxy)
})

test('half-open: a connection is made, and nobody is there', async (t) => {
  const { proxy, rest } = await network(t)
  await proxy.halfOpen()
  const { said, socket, rest: answers, answer } = await client(t, proxy)
  await once(socket, 'connect')
  said('a')
  await proxy.pass()
  assert.equal(await answer(), 'ECONNRESET')
  await meanwhile(t, proxy)
  assert.deepEqual([rest(), answers()], [['z'], []])
})

/** Each letter is a request, each capital an answer. */
class Letters {
  requests = (bytes) =>
    [...String(bytes)].map((letter) => ({ bytes: Buffer.from(letter), answered: true, repeatable: letter !== 's' }))

  answers = (bytes) => [...String(bytes)].map((letter) => ({ bytes: Buffer.from(letter), ends: true }))
}

test('repeated: the server executes a request twice, the client is answered once', async (t) => {
  const { proxy, heard } = await network(t, Letters)
  const { said, answer, rest } = await client(t, proxy)
  await proxy.repeat()
  said('ab')
  said('s')
  assert.deepEqual([await answer(), await answer(), await answer()], ['A', 'B', 'S'])
  assert.deepEqual([await heard(), await heard(), await heard(), await heard(), await heard()], [...'aabbs'])
  await proxy.repeat({ afterMs: 50 })
  said('d')
  assert.deepEqual([await answer(), await heard()], ['D', 'd'])
  said('e')
  assert.deepEqual([await answer(), await heard()], ['E', 'e'])
  assert.deepEqual([await heard(), await heard()].sort(), ['d', 'e'])
  await proxy.pass()
  said('f')
  assert.deepEqual([await answer(), rest(), proxy.repeated], ['F', [], 4])
})
