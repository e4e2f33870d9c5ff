import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { objectText } from '../../test/support/json-texts.ts'
import { Wanted } from './json-scan.ts'
import { arrayElements, type JsonObject, JsonSyntaxError, scanJsonObject } from './json-splice.ts'

const WINDOW_BYTES = 64 * 1024
const encoder = new TextEncoder()
const NAMES = new Wanted(['id', 'file_id'])

function scan(text: string): JsonObject {
  return scanJsonObject(encoder.encode(text), NAMES)
}

/** The result of a scan, with positions counted after `padding` bytes. */
function seen(text: string, padding = 0) {
  try {
    const object = scan(text)
    const members = object.members.map(({ key, start, valueStart, valueEnd }) => ({
      key,
      start: start - padding,
      valueStart: valueStart - padding,
      valueEnd: valueEnd - padding,
    }))
    return { members, count: object.memberCount, wanted: object.mayHaveWanted }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return { problem: error.message.replace(/ at byte \d+$/, ''), at: error.offset - padding }
  }
}

/** Names, escapes, numbers and words that a window may cut. */
const richText = fc.oneof(
  objectText,
  fc.constantFrom(
    '{"id":"\\u00e9\\n\\\\","b":[true,false,null,-12.5e+10,{}]}',
    '{"file\\u005fid":[[],[{"x":"\\""}],0.5,-0],"z":"é漢😀"}',
    // Texts that the scan refuses at any byte.
    '{"a":"\\u00g0"}',
    '{"a":tru}',
    '{"a":-}',
    '{"a":1.e5}',
    '{"a":[1,]}',
    '{"a":"\u0001"}',
    '{"a":"b"',
    '{"a":1}}',
  ),
)

test('a text is read alike at every place in a window', () => {
  fc.assert(
    fc.property(richText, fc.nat(), (text, at) => {
      const padding = WINDOW_BYTES - (at % (encoder.encode(text).length + 1))
      expect(seen(' '.repeat(padding) + text, padding)).toEqual(seen(text))
    }),
    { numRuns: 600 },
  )
})

test('a text in which one string, name or number fills whole windows is read', () => {
  for (const over of [-2, -1, 0, 1, 2, 5, WINDOW_BYTES]) {
    const long = 'n'.repeat(WINDOW_BYTES + over)
    const digits = '7'.repeat(WINDOW_BYTES + over)
    const object = scan(`{"${long}":"${long}\\n${long}","b":${digits}.${digits}e+1,"id":1}`)
    const [first, second, third] = object.members
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('a member is missing')
    expect(first.key === long).toBe(true)
    expect(object.value(first) === `${long}\n${long}`).toBe(true)
    expect(second.valueEnd - second.valueStart).toBe(2 * digits.length + 4)
    expect(third).toMatchObject({ key: 'id', start: second.valueEnd + 1 })
    expect(object.mayHaveWanted).toBe(true)
    expect(scan(`{"${long}":1}`).mayHaveWanted).toBe(false)
    expect(scan(`{"\\u0061${long}":1}`).mayHaveWanted).toBe(true)
    expect(scan(`{"${long}\\u0061":1}`).mayHaveWanted).toBe(true)
  }
})

test('a beginning of a text is found at every place over the end of a window', () => {
  const wanted = new Wanted([], ['web_search'])
  const scanned = (text: string) => scanJsonObject(encoder.encode(text), wanted).mayBeginAsWanted
  for (let cut = 0; cut < 20; cut += 1) {
    const begin = '{"a":'.padEnd(WINDOW_BYTES - cut)
    expect(scanned(`${begin}"web_search_preview","b":1}`)).toBe(true)
    expect(scanned(`${begin}["x","y"],"web_search":1}`)).toBe(false)
  }
})

test('a tilde is seen at every place, and no other byte is taken for one', () => {
  const text = '{"a":"'
  const places = [...Array(40).keys(), ...Array.from({ length: 40 }, (_, at) => WINDOW_BYTES - at)]
  for (const place of places) {
    const begin = text.padEnd(text.length + place, 'x')
    expect(scan(`${begin}~","b":1}`).hasTilde).toBe(true)
    expect(scan(`${begin}","~":1}`).hasTilde).toBe(true)
    expect(scan(`${begin}}\u007f\u00fe\u017e\u2020^|","b":1}`).hasTilde).toBe(false)
  }
})

test('bytes that are no UTF-8 are seen at every place, before anything else that is wrong', () => {
  for (let place = 0; place < 40; place += 1)
    for (const offset of [6 + place, WINDOW_BYTES - 20 + place])
      for (const end of ['","b":1}', '","b":', '"}}']) {
        const bytes = encoder.encode(`${'{"a":"'.padEnd(offset, 'x')}?${end}`)
        bytes[offset] = 0xff
        expect(() => scanJsonObject(bytes)).toThrow(`invalid UTF-8 at byte ${offset}`)
        bytes[offset] = 0xc3
        expect(() => scanJsonObject(bytes)).toThrow(`invalid UTF-8 at byte ${offset}`)
      }
})

test('an escape is read at every place over the end of a window', () => {
  for (let cut = 0; cut < 20; cut += 1) {
    const begin = '{"a":"'.padEnd(WINDOW_BYTES - cut, 'x')
    const text = `${begin}\\\\\\"\\u00e9\\n","file_id":"\\/"}`
    expect(scan(text).members.map((member) => scan(text).value(member))).toEqual(
      Object.values(JSON.parse(text)),
    )
    expect(seen(`${begin}\\u00e`)).toEqual({
      problem: 'invalid escape in a string',
      at: begin.length,
    })
  }
})

test('escapes close to one another are read as JSON.parse reads them', () => {
  const backslashes = ['\\', '\\', '\\', '\\\\', '\\n', '\\"', '\\u00e9']
  const unit = fc.constantFrom(...backslashes, ...'""nnru/bxé', '\n')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), fc.nat(40), (escapes, padding) => {
      const json = `{"a":"${'x'.repeat(padding)}${escapes}"}`
      const scanned = () => {
        const object = scan(json)
        return Object.fromEntries(object.members.map((one) => [one.key, object.value(one)]))
      }
      const expected = parsed(json)
      if (expected === undefined) expect(scanned).toThrow(JsonSyntaxError)
      else expect(scanned()).toEqual(expected)
    }),
    { numRuns: 4_000 },
  )
})

/** Undefined for invalid JSON. */
function parsed(json: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

test('an unterminated string is told from its beginning, windows ago', () => {
  expect(seen(`{"a":1,"b":"${'x'.repeat(3 * WINDOW_BYTES)}`)).toEqual({
    problem: 'unterminated string',
    at: 11,
  })
})

test('all elements of a list are found, however many, and nesting is limited in each', () => {
  for (const count of [0, 1, 999, 1_000, 1_001, 2_000, 50_000]) {
    const elements = Array.from({ length: count }, (_, index) =>
      index % 3 === 0 ? `{"id":${index}}` : String(index),
    )
    const text = `{"list":[${elements.join(' , ')}]}`
    const object = scan(text)
    const [member] = object.members
    if (member === undefined) throw new Error('no member')
    const found = arrayElements(object, member).map(({ start, end }) => text.slice(start, end))
    expect(found).toEqual(elements)
    for (const most of [1, 3, 1_500]) {
      const first = arrayElements(object, member, most)
      expect(first.length).toBeGreaterThanOrEqual(Math.min(most, count))
      // A window of the text contains about four thousand elements.
      if (count === 50_000) expect(first.length).toBeLessThan(10_000)
      expect(first.map(({ start, end }) => text.slice(start, end))).toEqual(
        elements.slice(0, first.length),
      )
    }
  }
})

test('a thousand members are read, and one more is refused by name of the rule', () => {
  const text = (count: number, space: string) =>
    `{${Array.from({ length: count }, (_, index) => `"m${index}":${space}1`).join(',')}}`
  // The second spelling takes several windows.
  for (const space of ['', ' '.repeat(200)]) {
    expect(scan(text(1_000, space)).members).toHaveLength(1_000)
    expect(seen(text(1_001, space))).toMatchObject({
      problem: 'more than 1000 members in the object',
    })
  }
})
