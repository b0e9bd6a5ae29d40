'use strict'

/**
 * The file that declares an application's ID types.
 *
 * @param {{ typescript: boolean, modules: boolean }} project modules: `import` rather than `require`
 */
function exampleOf({ typescript, modules }) {
  const from = (names) => (modules ? `import { ${names} } from 'mintid'` : `const { ${names} } = require('mintid')`)
  return `\
// The ID types of this application. This file needs no key, no environment and no lease: import it anywhere.

${from(typescript ? 'idType, type IdOf' : 'idType')}

${modules ? 'export ' : ''}const userId = idType('usr_', { mask: true })
${typescript ? 'export type UserId = IdOf<typeof userId>\n' : ''}${modules ? '' : '\nmodule.exports = { userId }\n'}
// Once, where the process starts ('local': unique among the processes of this host):
//
//   ${from('start')}
//   const ids = await start({ coordinator: 'local', key: process.env.MINTID_KEY })
//
// Then, anywhere:
//
//   userId.next()                     // what the application shows, for example 'usr_4k9TnZqJs7B'
//   userId.toDb('usr_4k9TnZqJs7B')    // what the database keeps: a bigint
//
// At the end:
//
//   await ids.close()
`
}

module.exports = { exampleOf }
