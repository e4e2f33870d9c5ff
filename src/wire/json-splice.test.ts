import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { objectText, stringText, valueText, viewAt } from '../../test/support/json-texts.ts'
import {
  type JsonEdit,
  type JsonMember,
  type JsonObject,
  scanJsonObject,
  spliceJson,
} from './json-splice.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function scan(text: string): JsonObject {
  return scanJsonObject(encoder.encode(text))
}

function memberOf(object: JsonObject, key: string): JsonMember {
  const member = object.get(key)
  if (member === undefined) throw new Error(`no member ${key}`)
  return member
}

function toValue(object: JsonObject): unknown {
  return Object.fromEntries(object.members.map((member) => [member.key, object.value(member)]))
}

describe('spliceJson', () => {
  function splice(text: string, toEdits: (object: JsonObject) => readonly JsonEdit[]): string {
    const object = scan(text)
    return decoder.decode(spliceJson(object, toEdits(object)))
  }

  const remove =
    (...keys: string[]) =>
    (object: JsonObject): JsonEdit[] =>
      keys.map((key) => ({ type: 'remove', member: memberOf(object, key) }))

  test('without edits, the very same bytes', () => {
    const object = scan(' {"a" : 1} ')
    expect(spliceJson(object, [])).toBe(object.bytes)
  })

  test('a replaced value is the only change', () => {
    fc.assert(
      fc.property(objectText, valueText, fc.nat(), fc.nat(7), (text, json, pick, offset) => {
        const object = scanJsonObject(viewAt(offset, encoder.encode(text)))
        const member = object.members[pick % object.members.length]
        fc.pre(member !== undefined)
        const output = spliceJson(object, [{ type: 'replace', member, json }])
        const behind = object.bytes.subarray(member.valueEnd)
        expect(output.subarray(0, member.valueStart)).toEqual(
          Buffer.from(object.bytes.subarray(0, member.valueStart)),
        )
        expect(output.subarray(output.length - behind.length)).toEqual(Buffer.from(behind))
        expect(
          decoder.decode(output.subarray(member.valueStart, output.length - behind.length)),
        ).toBe(json)
      }),
    )
  })

  test('inserted text stands behind the first byte of the value, and the rest stays', () => {
    const output = splice(' {"a" : [ 1], "b":"x"} ', (object) => [
      { type: 'insert', member: memberOf(object, 'a'), text: '0,' },
      { type: 'insert', member: memberOf(object, 'b'), text: 'y ' },
    ])
    expect(output).toBe(' {"a" : [0, 1], "b":"y x"} ')
  })

  test('any edits together give the requested value', () => {
    const action = fc.oneof(
      fc.constant('keep'),
      fc.constant('remove'),
      fc.tuple(fc.constant('replace'), valueText),
    )
    const additions = fc.uniqueArray(fc.tuple(stringText, valueText), {
      maxLength: 3,
      selector: ([key]) => JSON.parse(key) as string,
    })
    fc.assert(
      fc.property(
        objectText,
        fc.array(action, { minLength: 6, maxLength: 6 }),
        additions,
        (text, actions, added) => {
          const object = scan(text)
          const expected = new Map<string, unknown>(Object.entries(JSON.parse(text) as object))
          const edits: JsonEdit[] = []
          for (const [index, member] of object.members.entries()) {
            const chosen = actions[index]
            if (chosen === 'remove') {
              edits.unshift({ type: 'remove', member })
              expected.delete(member.key)
            } else if (Array.isArray(chosen)) {
              edits.push({ type: 'replace', member, json: chosen[1] })
              expected.set(member.key, JSON.parse(chosen[1]))
            }
          }
          for (const [keyText, json] of added) {
            const key = JSON.parse(keyText) as string
            if (expected.has(key)) continue
            edits.unshift({ type: 'add', key, json })
            expected.set(key, JSON.parse(json))
          }
          const output = spliceJson(object, edits)
          expect(toValue(scanJsonObject(output))).toEqual(Object.fromEntries(expected))
          expect(JSON.parse(decoder.decode(output))).toEqual(Object.fromEntries(expected))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('removing takes one comma along and leaves the rest as it was', () => {
    const text = '{ "a": 1, "b": 2, "c": 3 }'
    expect(splice(text, remove('a'))).toBe('{ "b": 2, "c": 3 }')
    expect(splice(text, remove('b'))).toBe('{ "a": 1, "c": 3 }')
    expect(splice(text, remove('c'))).toBe('{ "a": 1, "b": 2 }')
    expect(splice(text, remove('a', 'b'))).toBe('{ "c": 3 }')
    expect(splice(text, remove('c', 'b'))).toBe('{ "a": 1 }')
    expect(splice(text, remove('a', 'c'))).toBe('{ "b": 2 }')
    expect(splice(text, remove('a', 'b', 'c'))).toBe('{ }')
    expect(splice('{"a":1}', remove('a'))).toBe('{}')
  })

  test('adding puts members first, also into an empty object', () => {
    const add: JsonEdit = { type: 'add', key: 'a"\n', json: '[1]' }
    expect(splice('{"b":2}', () => [add])).toBe('{"a\\"\\n":[1],"b":2}')
    expect(splice(' { } ', () => [add, { type: 'add', key: 'c', json: '"é"' }])).toBe(
      ' {"a\\"\\n":[1],"c":"é" } ',
    )
    expect(splice('{"b":2}', (object) => [add, ...remove('b')(object)])).toBe('{"a\\"\\n":[1]}')
  })

  test('a member may be removed and another added under its key', () => {
    expect(
      splice('{"a":1,"b":2}', (object) => [
        ...remove('b')(object),
        { type: 'add', key: 'b', json: '3' },
      ]),
    ).toBe('{"b":3,"a":1}')
  })

  test('edits that contradict each other are refused', () => {
    const object = scan('{"a":1}')
    const member = memberOf(object, 'a')
    const replace: JsonEdit = { type: 'replace', member, json: '2' }
    expect(() => spliceJson(object, [replace, replace])).toThrow(TypeError)
    expect(() => spliceJson(object, [replace, { type: 'remove', member }])).toThrow(TypeError)
    expect(() => spliceJson(object, [{ type: 'add', key: 'a', json: '2' }])).toThrow(TypeError)
    const add: JsonEdit = { type: 'add', key: 'b', json: '2' }
    expect(() => spliceJson(object, [add, add])).toThrow(TypeError)
    expect(() => spliceJson(scan('{"a":1}'), [replace])).toThrow(TypeError)
  })
})
