import { expect, test } from 'bun:test'
import type { CallColumns } from '../../src/core/call-column.ts'
import { CALL_COLUMNS } from '../../src/core/call-columns.ts'
import { callCode } from './call-code.ts'
import { listColumns, listPlaces } from './column-parts.ts'
import { FAILED_ATTEMPTS } from './line-code.ts'

const list = listColumns(CALL_COLUMNS)
const line = list.length + 1
const lastSince = Math.max(...list.map((column) => column.since ?? 0))
const since = Math.max(lastSince, FAILED_ATTEMPTS) + 1
/** The key's name has a place too. */
const csv = listPlaces(CALL_COLUMNS).filter((place) => place.csv !== null).length + 2
const unversioned = {
  type: 'text',
  presence: 'optional',
  line,
  column: 'added',
  csv,
  body: {},
} as const
const added = { ...unversioned, since }

test.each<[string, CallColumns, readonly string[]]>([
  ['the list as it is', CALL_COLUMNS, []],
  ['one more at the end', { ...CALL_COLUMNS, added }, []],
  ['one in no export', { ...CALL_COLUMNS, added: { ...added, csv: null } }, []],
  ['one in no answer', { ...CALL_COLUMNS, added: { ...added, csv: null, body: null } }, []],
  [
    'one in the export and in no answer',
    { ...CALL_COLUMNS, added: { ...added, body: null } },
    ['added: export and facts are made from the answers'],
  ],
  [
    'a fact that no answer tells',
    { ...CALL_COLUMNS, added: { ...added, csv: null, body: null, fact: { title: 'Added' } } },
    ['added: export and facts are made from the answers'],
  ],
  [
    'a place of the line that is taken',
    { ...CALL_COLUMNS, added: { ...added, line: line - 1, since: lastSince } },
    [`the places in \`line\` must be 1 to ${line}, each once`],
  ],
  [
    'a place of the line that leaves one out',
    { ...CALL_COLUMNS, added: { ...added, line: line + 1, since: since + 1 } },
    [`the places in \`line\` must be 1 to ${line}, each once`],
  ],
  [
    'a place of the export that is taken',
    { ...CALL_COLUMNS, added: { ...added, csv: 14 } },
    [`the places in \`csv\` must be 1 to ${csv}, each once`],
  ],
  [
    'a version of the line that another column has',
    { ...CALL_COLUMNS, added: { ...added, since: since - 1 } },
    [`added: \`since\` must be ${since}`],
  ],
  [
    'no version of the line',
    {
      ...CALL_COLUMNS,
      added: unversioned,
    },
    [`added: \`since\` must be ${since}`],
  ],
  [
    'one that lines of before would have to hold',
    { ...CALL_COLUMNS, added: { ...added, presence: 'always' } },
    ['added: it must be optional'],
  ],
  [
    'a version for what is in every line',
    { ...CALL_COLUMNS, stream: { ...CALL_COLUMNS.stream, since: 7 } },
    ['stream: it is in every line'],
  ],
  [
    "the table's column of another's part",
    { ...CALL_COLUMNS, added: { ...added, column: 'input_tokens' } },
    ['two have the column input_tokens'],
  ],
])('a list with %s', (_what, columns, expected) => {
  const { faults } = callCode(columns)
  expect(faults).toHaveLength(expected.length)
  for (const [index, fault] of expected.entries()) expect(faults[index]).toContain(fault)
})
