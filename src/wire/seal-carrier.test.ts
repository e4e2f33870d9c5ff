import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Seal } from './chat-request.ts'
import { scanJsonObject } from './json-splice.ts'
import {
  hasCarriers,
  isReadable,
  readSeal,
  readToolId,
  writeSeal,
  writeToolId,
} from './seal-carrier.ts'

const seals = fc.record<Seal>({
  type: fc.constantFrom('signature', 'encrypted'),
  value: fc.string(),
})
const parts = fc.record({ type: fc.constant('reasoning' as const), text: fc.string(), seal: seals })

test('a written seal is read back, with its origin', () => {
  fc.assert(
    fc.property(seals, fc.string(), fc.array(parts), fc.string(), (seal, origin, reasoning, id) => {
      fc.pre(!id.includes('~gh1~'))
      expect(readSeal(writeSeal(seal, origin))).toEqual({ ...seal, origin })
      const owned = reasoning.map((part) => ({ ...part, seal: { ...part.seal, origin } }))
      expect(readToolId(writeToolId(id, { seal, reasoning }, origin))).toEqual({
        id,
        sealed: { seal: { ...seal, origin }, ...(owned.length === 0 ? {} : { reasoning: owned }) },
      })
    }),
  )
})

test('an id with nothing to carry stays unchanged', () => {
  const unsealed = { type: 'reasoning' as const, text: 'hm' }
  for (const sealed of [{}, { reasoning: [] }, { reasoning: [unsealed] }])
    expect(writeToolId('call_1', sealed, 'o')).toBe('call_1')
  expect(readToolId('call_1')).toEqual({ id: 'call_1', sealed: {} })
})

test('an id may carry reasoning alone, without its unsealed parts', () => {
  const seal: Seal = { type: 'encrypted', value: 'v' }
  const reasoning = [
    { type: 'reasoning' as const, text: 'a' },
    { type: 'reasoning' as const, text: 'b', seal },
  ]
  expect(readToolId(writeToolId('c', { reasoning }, 'o'))).toEqual({
    id: 'c',
    sealed: { reasoning: [{ type: 'reasoning', text: 'b', seal: { ...seal, origin: 'o' } }] },
  })
})

const carry = (json: unknown) => `gh1~${Buffer.from(JSON.stringify(json)).toString('base64url')}`
const whole = { o: 'o', t: 'signature', v: 'v' }

describe('a carrier that a client has cut or changed', () => {
  test.each([
    ...['', 'gh1', 'gh1~', 'gh1~!', 'theirs', `x${carry(whole)}`],
    ...[7, null, 'x', [], {}].map(carry),
    ...[
      { ...whole, o: 1 },
      { ...whole, t: 'x' },
      { ...whole, v: 1 },
      { o: 'o', v: 'v' },
    ].map(carry),
  ])('is not a seal: %p', (text) => {
    expect(readSeal(text)).toBeUndefined()
  })

  test('leaves an id unchanged, or without the unreadable part', () => {
    for (const id of ['c~gh1~', 'c~gh1~!', `c~${carry(7)}`, `c~${carry(null)}`])
      expect(readToolId(id)).toEqual({ id, sealed: {} })
    for (const json of [{}, { r: 7 }, { r: [] }, { ...whole, t: 'x' }])
      expect(readToolId(`c~${carry(json)}`)).toEqual({ id: 'c', sealed: {} })
    expect(
      readToolId(`c~${carry({ o: 'o', r: [7, null, { x: 'a' }, { ...whole, x: 'b' }] })}`),
    ).toEqual({
      id: 'c',
      sealed: {
        reasoning: [
          ...['', '', 'a'].map((text) => ({ type: 'reasoning' as const, text })),
          { type: 'reasoning', text: 'b', seal: { type: 'signature', value: 'v', origin: 'o' } },
        ],
      },
    })
  })
})

test('a seal is read by its own origin, or by the source that the caller had it from', () => {
  const seal = (origin?: string): Seal => ({
    type: 'signature',
    value: 'v',
    ...(origin ? { origin } : {}),
  })
  expect(isReadable(seal('o'), 'dialect', 'o')).toBe(true)
  expect(isReadable(seal('dialect'), 'dialect', 'o')).toBe(true)
  expect(isReadable(seal('other'), 'dialect', 'o')).toBe(false)
  expect(isReadable(seal(), 'dialect', 'o')).toBe(false)
})

test('the gateway’s carriers are found in a body, wherever they stand', () => {
  const holds = (text: string) => hasCarriers(scanJsonObject(Buffer.from(text)))
  const seal: Seal = { type: 'signature', value: 'v' }
  expect(holds(`{"id":"${writeToolId('c', { seal }, 'o')}"}`)).toBe(true)
  expect(holds(`{"signature":"${writeSeal(seal, 'o')}"}`)).toBe(true)
  expect(holds('{"signature":"theirs~gh~gh2~"}')).toBe(false)
})
