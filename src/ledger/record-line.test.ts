/** A record's line keeps the record, and any damage to it is noticed. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { CallRecord } from '../core/call.ts'
import { anyCallRecord } from './any-call-record.fixture.ts'
import { createCallRecord, createLaterLine } from './call-record.fixture.ts'
import { decodeRecordLine, encodeRecordLine } from './record-line.ts'

function toBytes(line: string): Uint8Array {
  return new TextEncoder().encode(line.slice(0, -1))
}

/** @throws of a later version's */
function decoded(line: string): CallRecord | undefined {
  const record = decodeRecordLine(toBytes(line))
  if (record === 'newer') throw new Error('it is of a later version')
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

test('lines of versions 1 (no credential), 2 (no attempts) and 3 (no cost) are read', () => {
  const record = createCallRecord({ credential: 'own' })
  const written = encodeRecordLine(record)
  const third = written
    .slice(9, -1)
    .replace(/^\[4,/, '[3,')
    .replace(/,null\]$/, ']')
  const second = third.replace(/^\[3,/, '[2,')
  const first = second.replace(/^\[2,/, '[1,').replace(/,"own"\]$/, ']')
  const read = (json: string) =>
    decodeRecordLine(toBytes(`${Bun.hash.crc32(json).toString(16).padStart(8, '0')} ${json}\n`))
  expect(read(first)).toEqual({ ...record, credential: null })
  expect(read(second)).toEqual(record)
  expect(read(third)).toEqual(record)
  const attemptDetails = [{ target: 'p/m', status: 500, afterMs: 0, durationMs: 1 }]
  expect(read(third.replace(/\]$/, ',[["p/m",500,0,1]]]'))).toEqual({ ...record, attemptDetails })
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
    'version 2 without a credential',
    '[2,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null]',
  ],
  [
    'version 2 with attempts',
    '[2,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[["p/m",500,0,1]]]',
  ],
  [
    'version 3 without a credential',
    '[3,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null]',
  ],
  [
    'version 3 with a broken attempt',
    '[3,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[["p/m",500,0]]]',
  ],
  [
    'an attempt at something without a name',
    '[3,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[[7,500,0,1]]]',
  ],
  [
    'an attempt with a status in words',
    '[3,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[["p/m","ok",0,1]]]',
  ],
  [
    'an attempt that began at no time',
    '[3,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[["p/m",500,null,1]]]',
  ],
  [
    'an attempt that took no count of milliseconds',
    '[3,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[["p/m",500,0,-1]]]',
  ],
  [
    'a cost from no named source',
    '[4,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[1,"exact",7]]',
  ],
  [
    'a cost of four members',
    '[4,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[1,"exact","t@1",1]]',
  ],
  [
    'an attempt of five members',
    '[3,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[["p/m",500,0,1,1]]]',
  ],
  [
    'a cost of two members',
    '[4,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[null,"exact"]]',
  ],
  [
    'version 5 with an invalid count',
    '[5,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,null,-1]',
  ],
  [
    'version 6 with an invalid count',
    '[6,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,null,-1,"x"]',
  ],
  [
    'version 6 with an invalid id',
    '[6,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,null,null,null]',
  ],
  [
    'version 6 without an id',
    '[6,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,null,1]',
  ],
  [
    'version 5 without a count',
    '[5,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,null,null]',
  ],
  [
    'version 4 without a cost',
    '[4,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null]',
  ],
  [
    'version 4 with a cost of an unknown kind',
    '[4,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[1,"sure","t@1"]]',
  ],
  [
    'version 4 with a broken cost',
    '[4,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,null,[1.5,"exact","t@1"]]',
  ],
  [
    'five counts in version 2',
    '[2,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,[1,2,3,4,5],null]',
  ],
  [
    'an unknown credential',
    '[2,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,"mine"]',
  ],
  ['an object', '{"id":"req_1"}'],
  [
    'a number in place of an id',
    '[1,5,"a","k","g","d",true,null,1,"failed",500,null,1,null,1,null]',
  ],
  [
    'an outcome that is not known',
    '[1,"r","a","k","g","d",true,null,1,"lost",500,null,1,null,1,null]',
  ],
  [
    'a fraction in place of a count',
    '[1,"r","a","k","g","d",true,null,1.5,"failed",500,null,1,null,1,null]',
  ],
  [
    'a number of attempts in words',
    '[1,"r","a","k","g","d",true,null,"one","failed",500,null,1,null,1,null]',
  ],
  ['a status in words', '[1,"r","a","k","g","d",true,null,1,"failed","bad",null,1,null,1,null]'],
  [
    'a beginning at no time',
    '[1,"r","a","k","g","d",true,null,1,"failed",500,null,null,null,1,null]',
  ],
  ['an end at no time', '[1,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,null,null]'],
  [
    'a first byte before its beginning',
    '[1,"r","a","k","g","d",true,null,1,"failed",500,null,1,-1,1,null]',
  ],
  ['a target without a name', '[1,"r","a","k","g","d",true,7,1,"failed",500,null,1,null,1,null]'],
  [
    'a kind of error without a name',
    '[1,"r","a","k","g","d",true,null,1,"failed",500,7,1,null,1,null]',
  ],
  ['an invalid stream flag', '[1,"r","a","k","g","d",null,null,1,"failed",500,null,1,null,1,null]'],
  ['a dialect without a name', '[1,"r","a","k","g",7,true,null,1,"failed",500,null,1,null,1,null]'],
  ['no account', '[1,"r",null,"k","g","d",true,null,1,"failed",500,null,1,null,1,null]'],
  ['no key', '[1,"r","a",null,"g","d",true,null,1,"failed",500,null,1,null,1,null]'],
  ['no gate', '[1,"r","a","k",null,"d",true,null,1,"failed",500,null,1,null,1,null]'],
  [
    'usage with a member missing',
    '[1,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,[1,2,3]]',
  ],
  [
    'usage with a null inside',
    '[1,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,[1,2,3,null]]',
  ],
  ['one member too many', '[1,"r","a","k","g","d",true,null,1,"failed",500,null,1,null,1,null,9]'],
])('a line with a right checksum that holds %s is not taken for a record', (_what, json) => {
  const line = `${Bun.hash.crc32(json).toString(16).padStart(8, '0')} ${json}\n`
  expect(decodeRecordLine(toBytes(line))).toBeUndefined()
})
