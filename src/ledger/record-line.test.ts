/** A record's line keeps the record, and any damage to it is noticed. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { CallRecord } from '../core/call.ts'
import { anyCallRecord } from './any-call-record.fixture.ts'
import { createCallRecord, createEarlierLine, createLaterLine } from './call-record.fixture.ts'
import { decodeRecordLine, encodeRecordLine } from './record-line.ts'

function toBytes(line: string): Uint8Array {
  return new TextEncoder().encode(line.slice(0, -1))
}

/** @throws of a later version's */
function decoded(line: string): CallRecord | undefined {
  const record = decodeRecordLine(toBytes(line))
  if (typeof record === 'string') throw new Error('it is of another version')
  return record
}

test('a record comes back from its line as it was, nulls and odd characters included', () => {
  fc.assert(
    fc.property(anyCallRecord, (record) => {
      const line = encodeRecordLine(record)
      expect(line.indexOf('\n')).toBe(line.length - 1)
      expect(decodeRecordLine(toBytes(line))).toEqual(record)
    }),
    { numRuns: 500 },
  )
})

test('times are kept in whole milliseconds, and a clock that went back or broke makes them 0', () => {
  const written = [1.4, 1.5, -3, Number.NaN, Number.POSITIVE_INFINITY].map((durationMs) => {
    const line = encodeRecordLine(createCallRecord({ durationMs, firstByteMs: durationMs }))
    return decoded(line)
  })
  expect(written.map((record) => record?.durationMs)).toEqual([1, 2, 0, 0, 0])
  expect(written.map((record) => record?.firstByteMs)).toEqual([1, 2, 0, 0, 0])
})

test.each([1.5, -1, 1e30, Number.NaN])(
  'usage with a count of %d is dropped, and the record is kept',
  (count) => {
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: count }
    const record = createCallRecord({ usage })
    expect(decodeRecordLine(toBytes(encodeRecordLine(record)))).toEqual({ ...record, usage: null })
  },
)

test.each([1.5, -1, Number.NaN])('a cost of %d is dropped, and the record is kept', (nanoUsd) => {
  const record = createCallRecord()
  const cost = { nanoUsd, status: 'exact', source: 'test@1' } as const
  expect(decodeRecordLine(toBytes(encodeRecordLine({ ...record, cost })))).toEqual(record)
})

test('a line with any one bit turned is recognised as damaged', () => {
  const line = toBytes(encodeRecordLine(createCallRecord({ target: 'owned/modèle-😀' })))
  for (let bit = 0; bit < line.length * 8; bit += 1) {
    const damaged = line.slice()
    const byte = Math.floor(bit / 8)
    damaged[byte] = (damaged[byte] ?? 0) ^ (1 << (bit % 8))
    expect(decodeRecordLine(damaged)).toBeUndefined()
  }
})

test('a line with a right checksum and invalid UTF-8 is damaged', () => {
  const json = encodeRecordLine(createCallRecord({ target: 'owned/é' })).slice(9, -1)
  const bytes = Buffer.from(json)
  const at = bytes.indexOf(Buffer.from('é'))
  bytes[at] = 0xff
  const line = Buffer.concat([
    Buffer.from(`${Bun.hash.crc32(bytes).toString(16).padStart(8, '0')} `),
    bytes,
  ])
  expect(decodeRecordLine(line)).toBeUndefined()
})

test('a whole line of a later version is recognised, whatever it holds, and a damaged one is not', () => {
  const line = toBytes(createLaterLine())
  expect(decodeRecordLine(line)).toBe('newer')
  expect(decodeRecordLine(line.with(-1, 93 ^ 1))).toBeUndefined()
})

test('a whole line of an earlier version is recognised, and a damaged one is not', () => {
  const line = toBytes(createEarlierLine())
  expect(decodeRecordLine(line)).toBe('older')
  expect(decodeRecordLine(line.with(-1, 93 ^ 1))).toBeUndefined()
})

test('a line with more columns than this version has is of a later one', () => {
  const members = JSON.parse(
    encodeRecordLine(createCallRecord({ steeredBy: 'bud_1; cheaper' })).slice(9),
  )
  const json = JSON.stringify([...members, 'its value'])
  const line = `${Bun.hash.crc32(json).toString(16).padStart(8, '0')} ${json}\n`
  expect(decodeRecordLine(toBytes(line))).toBe('newer')
})

test('a line cut anywhere, and any bytes at all, are damaged lines and never an exception', () => {
  const line = toBytes(encodeRecordLine(createCallRecord()))
  for (let end = 0; end < line.length; end += 1)
    expect(decodeRecordLine(line.subarray(0, end))).toBeUndefined()
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      (bytes) => decodeRecordLine(bytes) === undefined,
    ),
  )
})

test.each([
  ['no version', '[0,"r"]'],
  [
    'a broken attempt',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,[["p/m",500,0]]]',
  ],
  [
    'an attempt at something without a name',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,[[7,500,0,1]]]',
  ],
  [
    'an attempt with a status in words',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,[["p/m","ok",0,1]]]',
  ],
  [
    'an attempt that began at no time',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,[["p/m",500,null,1]]]',
  ],
  [
    'an attempt that took no count of milliseconds',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,[["p/m",500,0,-1]]]',
  ],
  [
    'a cost from no named source',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[1,"exact",7]]',
  ],
  [
    'a cost of four members',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[1,"exact","t@1",1]]',
  ],
  [
    'an attempt of five members',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,[["p/m",500,0,1,1]]]',
  ],
  [
    'a cost of two members',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[null,"exact"]]',
  ],
  [
    'an invalid count',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,null,-1]',
  ],
  [
    'an invalid count before an id',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,null,-1,"x"]',
  ],
  [
    'a cost of an unknown kind',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[1,"sure","t@1"]]',
  ],
  [
    'a broken cost',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[1.5,"exact","t@1"]]',
  ],
  [
    'an unknown credential',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,"mine"]',
  ],
  ['too few members', '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null]'],
  ['an object', '{"id":"req_1"}'],
  [
    'a number in place of an id',
    '[10,5,"a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null]',
  ],
  [
    'an outcome that is not known',
    '[10,"r","a","k","g","d",true,null,1,"lost",500,null,1,null,1,null,null]',
  ],
  [
    'a fraction in place of a count',
    '[10,"r","a","k","g","d",true,null,1.5,"failed",500,null,1,null,1,null,null]',
  ],
  [
    'a number of attempts in words',
    '[10,"r","a","k","g","d",true,null,"one","failed",500,null,1,null,1,null,null]',
  ],
  [
    'a status in words',
    '[10,"r","a","k","g","d",true,null,1,"failed","bad",null,1,null,1,null,null]',
  ],
  [
    'a beginning at no time',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,null,null,1,null,null]',
  ],
  [
    'an end at no time',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,null,null,null]',
  ],
  [
    'a first byte before its beginning',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,-1,1,null,null]',
  ],
  [
    'a target without a name',
    '[10,"r","a","k","g","d",true,7,1,"failed",500,null,1,null,1,null,null]',
  ],
  [
    'a kind of error without a name',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,7,1,null,1,null,null]',
  ],
  [
    'an invalid stream flag',
    '[10,"r","a","k","g","d",null,null,1,"failed",500,null,1,null,1,null,null]',
  ],
  [
    'a dialect without a name',
    '[10,"r","a","k","g",7,true,null,1,"failed",500,null,1,null,1,null,null]',
  ],
  ['no account', '[10,"r",null,"k","g","d",true,null,1,"failed",500,null,1,null,1,null,null]'],
  ['no key', '[10,"r","a",null,"g","d",true,null,1,"failed",500,null,1,null,1,null,null]'],
  ['no gate', '[10,"r","a","k",null,"d",true,null,1,"failed",500,null,1,null,1,null,null]'],
  [
    'usage with a member missing',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,[1,2,3],null]',
  ],
  [
    'usage with a null inside',
    '[10,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,[1,2,3,null],null]',
  ],
])('a line with a right checksum that holds %s is not taken for a record', (_what, json) => {
  const line = `${Bun.hash.crc32(json).toString(16).padStart(8, '0')} ${json}\n`
  expect(decodeRecordLine(toBytes(line))).toBeUndefined()
})
