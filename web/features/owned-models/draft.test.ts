import { expect, test } from 'bun:test'
import { createOwnedModelBody } from '../../../src/contract/owned-models.ts'
import {
  addressProblem,
  isComplete,
  isRegistrable,
  NOTHING_TYPED,
  type OwnedModel,
  priceProblem,
  slugProblem,
  toCents,
  toChanges,
  toDetails,
  toRegistration,
} from './draft.ts'

const model: OwnedModel = {
  slug: 'llama',
  displayName: 'Llama',
  dialect: 'openai-chat',
  baseUrl: 'https://models.example.com/v1',
  upstreamModelId: 'llama3.3',
  credentialHeader: 'auto',
  fimEndpoint: 'auto',
  fimTemplate: 'auto',
  probe: null,
  pricingInput: 25,
  pricingOutput: 75,
  pricingCachedInput: 25,
  credentialSetAt: '2026-11-01T00:00:00Z',
  createdAt: '2026-11-01T00:00:00Z',
  updatedAt: '2026-11-01T00:00:00Z',
}

test('a typed slug is refused exactly when the gateway would refuse it', () => {
  const { slug } = createOwnedModelBody.shape
  for (const typed of [
    'a',
    '0',
    'house-llama',
    'a-',
    'x'.repeat(63),
    'x'.repeat(64),
    '-a',
    'A',
    'a_b',
    'a b',
    'é',
  ])
    expect(`${typed}: ${slugProblem(typed) === undefined}`).toBe(
      `${typed}: ${slug.safeParse(typed).success}`,
    )
  expect(slugProblem('')).toBeUndefined()
})

test('a typed price is refused exactly when the gateway would refuse it', () => {
  const { pricingInput } = createOwnedModelBody.shape
  for (const typed of ['0', '25', '10000', '10001', '-1', '0.25', '$3', '1e3', '1 000']) {
    const sent = typed === '1e3' ? Number.NaN : Number(typed)
    expect(`${typed}: ${priceProblem(typed) === undefined}`).toBe(
      `${typed}: ${pricingInput.safeParse(sent).success}`,
    )
  }
  expect(toCents(' 25 ')).toBe(25)
  expect(toCents('')).toBeUndefined()
})

test('an incomplete address is not marked as wrong', () => {
  for (const typed of ['', 'h', 'https:', 'https://', 'http://', 'https://models.example.com/v1'])
    expect(addressProblem(typed)).toBeUndefined()
  for (const typed of ['models.example.com', 'ftp://x', 'https://x/?key=1'])
    expect(addressProblem(typed)).toBeString()
})

test('only changed members are sent', () => {
  const typed = toDetails(model)
  expect(toChanges(model, typed)).toEqual({})
  expect(toChanges(model, { ...typed, displayName: ' Llama ', pricingOutput: '80' })).toEqual({
    pricingOutput: 80,
  })
  expect(toChanges(model, { ...typed, credentialHeader: 'authorization' })).toEqual({
    credentialHeader: 'authorization',
  })
  expect(toChanges(model, { ...typed, fimEndpoint: 'infill', fimTemplate: 'auto' })).toEqual({
    fimEndpoint: 'infill',
  })
})

test('a form with an empty field cannot be sent', () => {
  expect(isComplete(toDetails(model))).toBe(true)
  expect(isComplete({ ...toDetails(model), upstreamModelId: ' ' })).toBe(false)
  expect(isComplete({ ...toDetails(model), pricingInput: '' })).toBe(false)
})

test('a registration leaves out optional fields that are empty, and can be sent without them', () => {
  const typed = {
    ...NOTHING_TYPED,
    slug: 'llama',
    baseUrl: ' https://models.example.com/v1 ',
    upstreamModelId: 'llama3.3',
    pricingInput: '0',
    pricingOutput: '30',
  }
  expect(isRegistrable(typed)).toBe(true)
  const free = { ...typed, pricingInput: '', pricingOutput: ' ' }
  expect(isRegistrable(free)).toBe(true)
  expect(
    createOwnedModelBody.parse({ ...toRegistration(free), dialect: 'openai-chat' }),
  ).toMatchObject({
    pricingInput: 0,
    pricingOutput: 0,
  })
  expect(toRegistration(typed)).toEqual({
    slug: 'llama',
    baseUrl: 'https://models.example.com/v1',
    upstreamModelId: 'llama3.3',
    pricingInput: 0,
    pricingOutput: 30,
  })
  for (const wrong of [
    { slug: '' },
    { slug: 'A' },
    { baseUrl: 'https' },
    { pricingCachedInput: 'x' },
  ])
    expect(isRegistrable({ ...typed, ...wrong })).toBe(wrong.baseUrl === 'https')
})
