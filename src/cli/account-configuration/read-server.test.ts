/** The entries of a file are made of what a server holds. */
import { expect, test } from 'bun:test'
import { KINDS } from './kinds.ts'
import { toEntry } from './server.ts'

test.each([
  ['lines', 'our\n gate', 'our gate'],
  ['a tab and what turns a line', '\tour\u202e gate', 'our gate'],
  ['nothing that is seen', ' \u200b', 'g'],
])(
  'a name of %s, from before names were a line, is read as one that can be pushed',
  (_, displayName, name) => {
    const gates = KINDS.find(({ section }) => section === 'gates')
    if (gates === undefined) throw new Error('gates are a kind')
    const row = { id: 'g', displayName, targets: [{ model: 'a/b' }] }
    expect(toEntry(gates, row)).toMatchObject({ id: 'g', displayName: name })
  },
)
