import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { space, stringText, valueText } from '../../test/support/json-texts.ts'
import { Wanted } from './json-scan.ts'
import { scanJsonObject } from './json-splice.ts'

const encoder = new TextEncoder()
const NAMES = ['id', 'ids', 'file_id', 'file_ids', 'container']
const BEGINNINGS = ['file_i', 'con', 'xfile_id']
const WANTED = new Wanted(NAMES, BEGINNINGS)

/** Wanted names, their beginnings and endings, and spellings with an escape. */
const nameText = fc.oneof(
  stringText,
  fc.constantFrom(...NAMES).map((name) => `"${name}"`),
  fc.constantFrom('""', '"i"', '"file_i"', '"xfile_id"', '"file_idx"', '"Container"', '"éd"'),
  fc.constantFrom('"\\u0069d"', '"file\\u005fid"', '"file_i\\u0064"', '"\\/"', '"a\\"id"'),
)

interface Part {
  readonly json: string
  /** Names of all members, as written. */
  readonly names: readonly string[]
  /** Texts that are values, as written. */
  readonly texts: readonly string[]
}

const part = fc.letrec<{ part: Part; list: Part; object: Part; leaf: Part }>((tie) => ({
  part: fc.oneof({ maxDepth: 4 }, tie('leaf'), tie('list'), tie('object')),
  // Names also occur in texts, and in texts inside texts.
  leaf: fc
    .oneof(
      nameText,
      nameText.map((text) => JSON.stringify(`{${text}:1}`)),
      fc.constantFrom('1', 'true', 'null', '"\\n"', '"\\\\"', '":"', '"\\":"'),
    )
    .map((json) => ({ json, names: [], texts: json.startsWith('"') ? [json] : [] })),
  list: fc.array(tie('part'), { maxLength: 4 }).map((parts) => ({
    json: `[${parts.map(({ json }) => json).join(',')}]`,
    names: parts.flatMap(({ names }) => names),
    texts: parts.flatMap(({ texts }) => texts),
  })),
  object: fc.array(fc.tuple(space, nameText, space, tie('part')), { maxLength: 4 }).map(toObject),
}))

function toObject(members: readonly [string, string, string, Part][]): Part {
  const json = members.map(([a, name, b, { json }]) => `${a}${name}${b}:${json}`).join(',')
  return {
    json: `{${json}}`,
    names: members.flatMap(([, name, , { names }]) => [name, ...names]),
    texts: members.flatMap(([, , , { texts }]) => texts),
  }
}

test('members are counted at every depth, those of one name too, and not inside a text', () => {
  fc.assert(
    fc.property(part.part, ({ json, names }) => {
      expect(scanJsonObject(encoder.encode(`{"top":${json}}`)).memberCount).toBe(1 + names.length)
    }),
  )
})

test('a wanted name is found at every depth, an escaped one is suspected, and no text is', () => {
  const isSuspect = (name: string) => name.includes('\\') || NAMES.includes(name.slice(1, -1))
  fc.assert(
    fc.property(part.part, nameText, fc.boolean(), ({ json, names }, top, isLarge) => {
      // A large text is scanned in place, a small text in a copy.
      const filling = isLarge ? `,"filling":"${'x'.repeat(40_000)}"` : ''
      const { mayHaveWanted } = scanJsonObject(encoder.encode(`{${top}:${json}${filling}}`), WANTED)
      expect(mayHaveWanted).toBe([top, ...names].some(isSuspect))
    }),
  )
})

test('a beginning is found of a text that is a value, at every depth, and of nothing else', () => {
  const isWanted = (text: string) => BEGINNINGS.some((wanted) => text.startsWith(`"${wanted}`))
  fc.assert(
    fc.property(part.part, nameText, ({ json, texts }, top) => {
      const { mayBeginAsWanted } = scanJsonObject(encoder.encode(`{${top}:${json}}`), WANTED)
      expect(mayBeginAsWanted).toBe(texts.some(isWanted))
    }),
  )
})

test('a scan that looks for nothing leaves every name and every text possible', () => {
  fc.assert(
    fc.property(valueText, (json) => {
      const { mayHaveWanted, mayBeginAsWanted } = scanJsonObject(encoder.encode(`{"a":${json}}`))
      expect([mayHaveWanted, mayBeginAsWanted]).toEqual([true, true])
    }),
  )
})

test('a text of endless backslashes has no members', () => {
  const text = JSON.stringify({ a: '\\'.repeat(100_000), b: '"'.repeat(100_000) })
  expect(scanJsonObject(Buffer.from(text)).memberCount).toBe(2)
})
