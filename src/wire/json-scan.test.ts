import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { objectText, space, valueText, viewAt } from '../../test/support/json-texts.ts'
import { MAX_DEPTH } from './json-scan.ts'
import {
  arrayElements,
  type JsonMember,
  type JsonObject,
  JsonSyntaxError,
  scanJsonObject,
} from './json-splice.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function scan(text: string): JsonObject {
  return scanJsonObject(encoder.encode(text))
}

function failureOf(bytes: Uint8Array): JsonSyntaxError | undefined {
  try {
    scanJsonObject(bytes)
    return undefined
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError) return thrown
    throw thrown
  }
}

function memberOf(object: JsonObject, key: string): JsonMember {
  const member = object.get(key)
  if (member === undefined) throw new Error(`no member ${key}`)
  return member
}

function toValue(object: JsonObject): unknown {
  return Object.fromEntries(object.members.map((member) => [member.key, object.value(member)]))
}

describe('the scan finds', () => {
  test('the members and values that JSON.parse finds, in any spelling and any view', () => {
    fc.assert(
      fc.property(objectText, fc.nat(7), (text, offset) => {
        const object = scanJsonObject(viewAt(offset, encoder.encode(text)))
        expect(toValue(object)).toEqual(JSON.parse(text))
        for (const member of object.members) {
          const alone = decoder.decode(object.bytes.subarray(member.start, member.valueEnd))
          expect(alone).toBe(alone.trim())
          expect(JSON.parse(`{${alone}}`)).toEqual({ [member.key]: object.value(member) })
          expect(object.get(member.key)).toBe(member)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('strings of every length at every place in a word', () => {
    for (let offset = 0; offset < 4; offset++) {
      for (let length = 0; length < 40; length++) {
        for (const tail of ['', '\\n', '\\"', 'é']) {
          const text = `{"a":"${'#'.repeat(length)}${tail}","b":1}`
          const object = scanJsonObject(viewAt(offset, encoder.encode(text)))
          expect(toValue(object)).toEqual(JSON.parse(text))
        }
      }
    }
  })

  test('long strings, whatever stands far behind their beginning', () => {
    const plain = fc
      .tuple(fc.constantFrom('a', 'é', '漢', '😀', '\u{7f}'), fc.nat(3000))
      .map(([letter, times]) => letter.repeat(times))
    // Some of these characters end the string or are invalid in a string.
    const special = fc.constantFrom(
      '\\n',
      '\\"',
      '\\u0041',
      '\\',
      '"',
      '","b":"',
      '\u0001',
      '\u001f',
      '\n',
    )
    const inside = fc
      .array(fc.oneof(plain, special), { maxLength: 6 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(inside, fc.nat(7), fc.boolean(), (text, offset, isLarge) => {
        // Only the scanner refuses a duplicate member.
        fc.pre(text.split('"b"').length <= 2)
        const json = `{"a":"${text}"${isLarge ? ' '.repeat(40_000) : ''}}`
        let expected: unknown
        try {
          expected = JSON.parse(json)
        } catch {
          expect(failureOf(viewAt(offset, encoder.encode(json)))).toBeDefined()
          return
        }
        expect(toValue(scanJsonObject(viewAt(offset, encoder.encode(json))))).toEqual(expected)
      }),
      { numRuns: 1000 },
    )
  })

  test('the type of each member', () => {
    const object = scan('{"s":"","n":-1,"d":2,"t":true,"f":false,"z":null,"a":[],"o":{}}')
    expect(object.members.map((member) => object.type(member))).toEqual(
      ['string', 'number', 'number', 'boolean', 'boolean', 'null', 'array', 'object'], // in the order of the text
    )
  })

  test('an escaped key by its decoded name', () => {
    expect(scan('{"mod\\u0065l":"x"}').get('model')).toBeDefined()
    expect(scan('{"model":"x"}').get('Model')).toBeUndefined()
  })

  test('raw bytes as they were written', () => {
    const object = scan('{"n": 12345678901234567890.0e1 }')
    expect(decoder.decode(object.raw(memberOf(object, 'n')))).toBe('12345678901234567890.0e1')
  })

  test('the elements of an array', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(space, valueText, space), { maxLength: 6 }), (items) => {
        const object = scan(
          `{"x":1,"list":[${items.map((item) => item.join('')).join(',') || ' '}]}`,
        )
        const spans = [...arrayElements(object, memberOf(object, 'list'))]
        const texts = spans.map(({ start, end }) =>
          decoder.decode(object.bytes.subarray(start, end)),
        )
        expect(texts).toEqual(items.map(([, value]) => value))
      }),
    )
  })

  test('the elements of the deepest array there may be', () => {
    const text = `{"a":${'['.repeat(255)}${']'.repeat(255)}}`
    const object = scanJsonObject(encoder.encode(text))
    const member = object.get('a')
    if (member === undefined) throw new Error('no member')
    expect([...arrayElements(object, member)]).toEqual([{ start: 6, end: text.length - 2 }])
  })

  test('no elements of a member that is not an array', () => {
    const object = scan('{"a":{}}')
    expect(() => [...arrayElements(object, memberOf(object, 'a'))]).toThrow(TypeError)
  })
})

const refused: readonly [text: string, offset: number][] = [
  ['', 0],
  [' \n', 2],
  ['[]', 0],
  ['"a"', 0],
  ['1', 0],
  ['null', 0],
  ['\ufeff{}', 0],
  ['{', 1],
  ['}', 0],
  ['{"a"', 4],
  ['{"a":', 5],
  ['{"a":1', 6],
  ['{"a":1,', 7],
  ['{"a":1,}', 7],
  ['{,"a":1}', 1],
  ['{"a":1,,"b":2}', 7],
  ['{"a":1 "b":2}', 7],
  ['{"a" 1}', 5],
  ['{"a"::1}', 5],
  ['{a:1}', 1],
  ["{'a':1}", 1],
  ['{1:1}', 1],
  ['{"a":1}}', 7],
  ['{"a":1} x', 8],
  ['{}{}', 2],
  ['{"a":[}', 6],
  ['{"a":[1,]}', 8],
  ['{"a":[1}}', 7],
  ['{"a":{"b":1]}', 11],
  ['{"a":[1 2]}', 8],
  ['{"a":"x', 5],
  ['{"a":"x\\"', 5],
  ['{"a":"x\n"}', 7],
  ['{"a":"\0"}', 6],
  ['{"a\t":1}', 3],
  ['{"a":"\\x"}', 6],
  ['{"a":"\\u12"}', 6],
  ['{"a":"\\u12g4"}', 6],
  ['{"a":"\\U0041"}', 6],
  ['{"a":"\\', 6],
  ['{"a":01}', 6],
  ['{"a":1.}', 7],
  ['{"a":+1}', 5],
  ['{"a":.5}', 5],
  ['{"a":1e}', 7],
  ['{"a":1e+}', 8],
  ['{"a":-}', 6],
  ['{"a":--1}', 6],
  ['{"a":0x10}', 6],
  ['{"a":1_000}', 6],
  ['{"a":NaN}', 5],
  ['{"a":-Infinity}', 6],
  ['{"a":undefined}', 5],
  ['{"a":True}', 5],
  ['{"a":tru}', 8],
  ['{"a":nulll}', 9],
  ['{"a":1/**/}', 6],
  ['{"a":1}//', 7],
  ['{\u00a0"a":1}', 1],
  ['{"a":1,"b":2,"a":3}', 13],
  ['{"model":1,"mod\\u0065l":2}', 11],
  ['{"":1,"":2}', 6],
]

describe('the scan refuses', () => {
  test.each(refused)('%j', (text, offset) => {
    expect(failureOf(encoder.encode(text))?.offset).toBe(offset)
  })

  test('invalid UTF-8, wherever it is', () => {
    for (const bad of [
      [0xff],
      [0xc3],
      [0x80],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
    ]) {
      const bytes = Uint8Array.of(...encoder.encode('{"a":"é'), ...bad, ...encoder.encode('"}'))
      expect(failureOf(bytes)?.message).toBe('invalid UTF-8 at byte 8')
    }
    expect(failureOf(Uint8Array.of(0x7b, 0x7d, 0xe2, 0x82))?.offset).toBe(2)
    // The offset counts the byte order mark.
    expect(failureOf(Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0xff))?.offset).toBe(4)
  })

  test('nesting deeper than the limit, and nothing less deep', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    expect(failureOf(encoder.encode(nested(MAX_DEPTH)))).toBeUndefined()
    expect(failureOf(encoder.encode(nested(MAX_DEPTH + 1)))?.message).toContain(
      'nesting deeper than 256 levels',
    )
    const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    expect(failureOf(encoder.encode(objects(MAX_DEPTH)))).toBeUndefined()
    expect(failureOf(encoder.encode(objects(MAX_DEPTH + 1)))).toBeDefined()
  })

  test('ten million brackets, without a stack overflow', () => {
    expect(failureOf(encoder.encode(`{"a":${'['.repeat(10_000_000)}`))).toBeDefined()
    expect(failureOf(encoder.encode('{"a":'.repeat(2_000_000)))).toBeDefined()
  })

  test.each([
    ['', 'unexpected end, an object is wanted at byte 0'],
    ['[]', 'unexpected character, an object is wanted at byte 0'],
    ['{', 'unexpected end, a key in double quotes is wanted at byte 1'],
    ['{1', 'unexpected character, a key in double quotes is wanted at byte 1'],
    ['{"a"', 'unexpected end, ":" is wanted at byte 4'],
    ['{"a"1', 'unexpected character, ":" is wanted at byte 4'],
    ['{"a":', 'unexpected end, a value is wanted at byte 5'],
    ['{"a":x}', 'unexpected character, a value is wanted at byte 5'],
    ['{"a":1', 'unexpected end, "," or "}" is wanted at byte 6'],
    ['{"a":1;', 'unexpected character, "," or "}" is wanted at byte 6'],
    ['{"a":1,}', 'unexpected character, a key in double quotes is wanted at byte 7'],
    ['{"a":1}x', 'text after the end of the object at byte 7'],
    ['{"a":[', 'unexpected end, a value is wanted at byte 6'],
    ['{"a":[1', 'unexpected end, "," or "]" is wanted at byte 7'],
    ['{"a":[1;]}', 'unexpected character, "," or "]" is wanted at byte 7'],
    ['{"a":{1}}', 'unexpected character, a key in double quotes is wanted at byte 6'],
    ['{"a":{"b"}}', 'unexpected character, ":" is wanted at byte 9'],
    ['{"a":{"b":1;}}', 'unexpected character, "," or "}" is wanted at byte 11'],
    ['{"a":"', 'unterminated string at byte 5'],
    ['{"a":"\n"}', 'unescaped control character in a string at byte 6'],
    ['{"a":"\\x"}', 'invalid escape in a string at byte 6'],
    ['{"a":-}', 'unexpected character, a digit is wanted at byte 6'],
    ['{"a":1.}', 'unexpected character, a digit is wanted at byte 7'],
    ['{"a":1e', 'unexpected end, a digit is wanted at byte 7'],
    ['{"a":tru', 'unexpected end, true, false or null is wanted at byte 8'],
    ['{"a":nul1}', 'unexpected character, true, false or null is wanted at byte 8'],
  ])('with the place and the expected token: %j', (text, message) => {
    expect(failureOf(encoder.encode(text))?.message).toBe(message)
  })

  test('with a message that quotes nothing of the text', () => {
    const failure = failureOf(encoder.encode('{"secret":"hunter2","secret":"hunter2"}'))
    expect(failure?.message).toBe('duplicate key at byte 20')
  })

  /** True when a rule beyond JSON.parse refuses the text. */
  function isRefusedByOwnRule(text: string, failure: JsonSyntaxError): boolean {
    if (!text.trimStart().startsWith('{')) return true
    if (!failure.message.startsWith('duplicate key')) return false
    const before = decoder.decode(encoder.encode(text).subarray(0, failure.offset))
    const [key] = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(before.length)) ?? []
    const earlier = JSON.parse(`${before.trimEnd().slice(0, -1)}}`) as object
    return key !== undefined && Object.hasOwn(earlier, JSON.parse(key) as string)
  }

  test('exactly the texts that JSON.parse or the extra rules refuse, after any change of bytes', () => {
    const byte = fc.oneof(
      fc.constantFrom(...encoder.encode('{}[]",:\\/ \n\t\r0123456789.eE+-utrfalsn')),
      fc.nat(255),
    )
    const change = fc.tuple(
      fc.constantFrom('delete', 'insert', 'set', 'copy', 'truncate'),
      fc.nat(),
      fc.nat(20),
      byte,
    )
    fc.assert(
      fc.property(
        objectText,
        fc.array(change, { minLength: 1, maxLength: 3 }),
        (original, changes) => {
          const list = [...encoder.encode(original)]
          for (const [kind, place, length, value] of changes) {
            const at = list.length === 0 ? 0 : place % list.length
            if (kind === 'delete') list.splice(at, 1 + (length % 4))
            else if (kind === 'insert') list.splice(at, 0, value)
            else if (kind === 'set') list[at] = value
            else if (kind === 'copy') list.splice(at, 0, ...list.slice(at, at + length))
            else if (length < 5) list.length = at
          }
          const bytes = Uint8Array.from(list)
          let text: string | undefined
          let parsed: unknown
          try {
            text = decoder.decode(bytes)
            parsed = JSON.parse(text)
          } catch {
            expect(failureOf(bytes)).toBeDefined()
            return
          }
          const failure = failureOf(bytes)
          if (failure === undefined) expect(toValue(scanJsonObject(bytes))).toEqual(parsed)
          else expect(isRefusedByOwnRule(text, failure)).toBe(true)
        },
      ),
      { numRuns: 5000 },
    )
  })
})
