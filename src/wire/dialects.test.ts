import { describe, expect, test } from 'bun:test'
import { DIALECTS, type DialectId, INBOUND_DIALECTS } from '../core/dialects.ts'
import { CALL_ENDPOINTS, translatorFor, upstreamCodecOf } from './dialects.ts'

const IDS = Object.keys(DIALECTS) as DialectId[]

test('each endpoint speaks the dialect whose facts name it', () => {
  expect(Object.entries(CALL_ENDPOINTS).map(([path, { id }]) => [id, path])).toEqual(
    INBOUND_DIALECTS.map((id) => [id, DIALECTS[id].endpoint]),
  )
})

test.each(IDS)('the upstream codec of %s, if any, is of the form that its facts name', (id) => {
  expect(upstreamCodecOf(id)?.form ?? DIALECTS[id].form.id).toBe(DIALECTS[id].form.id)
})

describe.each(Object.values(CALL_ENDPOINTS))('calls in $id', (inbound) => {
  const translated = IDS.filter((id) => translatorFor(inbound, id) !== undefined)

  test('are translated within their form only', () => {
    const { form } = DIALECTS[inbound.id]
    expect(translated.filter((id) => DIALECTS[id].form !== form)).toEqual([])
  })

  test('are translated to every upstream codec of the form, or to none', () => {
    const { form } = DIALECTS[inbound.id]
    const all = IDS.filter((id) => upstreamCodecOf(id)?.form === form.id)
    const isTranslated = form.id !== 'chat' || inbound.inboundCodec !== undefined
    expect(translated).toEqual(isTranslated ? all : [])
  })

  test('name the dialect that they are translated to', () => {
    expect(translated.map((id) => translatorFor(inbound, id)?.dialect)).toEqual(translated)
  })
})
