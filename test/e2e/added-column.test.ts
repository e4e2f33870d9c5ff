/**
 * A column that is added to the list of a call's columns is in all that is made from the list, with
 * no other edit but a step and a source.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { createCallRecord } from '../../src/ledger/call-record.fixture.ts'
import { decodeRecordLine, encodeRecordLine } from '../../src/ledger/record-line.ts'
import { controlPlaneCall, waitForLogRow } from '../support/control-plane.ts'
import { createNextVersion } from '../support/next-version.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import type { TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(120_000)

let next: TemporaryFolder
beforeAll(async () => {
  next = await createNextVersion()
})
afterAll(() => next.remove())

/** The form in the answers. */
const ADDED = {
  nextPlace: 'here',
  nextWaitMs: 2,
  nextAt: '1970-01-01T00:00:00.000Z',
  nextIsNear: false,
  nextWay: 'sea',
}

describe('a call of a version with added columns', () => {
  let gatehouse: Gatehouse
  let callId: string | null
  beforeAll(async () => {
    gatehouse = await startGatehouse({ source: next.path, sandbox: true })
    const response = await fetch(`${gatehouse.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ gate_id: 'demo', messages: [{ role: 'user', content: 'hi' }] }),
    })
    expect(response.status).toBe(200)
    await response.text()
    callId = response.headers.get('x-request-id')
    await waitForLogRow(gatehouse, callId)
  })
  afterAll(() => gatehouse.remove())

  const read = async (path: string) => (await controlPlaneCall(gatehouse, 'GET', path)).text()

  test('has gone through the journal into its row, and is in the answers', async () => {
    const added = { id: callId, ...ADDED }
    expect(JSON.parse(await read(`/v1/logs/${callId}`))).toMatchObject(added)
    const list = JSON.parse(await read('/v1/logs'))
    expect(list).toMatchObject({ data: [added] })
    // The list says that no answer has it.
    expect(list.data[0]).not.toHaveProperty('nextHops')
  })

  test('is in the export', async () => {
    const [head, line] = (await read('/v1/logs/export?format=csv')).split('\r\n')
    expect(head).toEndWith(',nextPlace,nextWaitMs,nextAt,nextIsNear,nextWay')
    expect(line).toEndWith(',first key,,,,,,,here,2,1970-01-01T00:00:00.000Z,false,sea')
    expect(await read('/v1/logs/export?format=ndjson')).toContain(
      JSON.stringify(ADDED).slice(1, -1),
    )
  })

  test('is in the OpenAPI document', async () => {
    const { components } = JSON.parse(await read('/openapi.json'))
    const added = {
      nextPlace: {
        type: ['string', 'null'],
        description: 'Where it was answered.',
        example: 'here',
      },
      nextWaitMs: { type: ['number', 'null'] },
      nextAt: { type: ['string', 'null'], format: 'date-time' },
      nextIsNear: { type: ['boolean', 'null'] },
      nextWay: { type: ['string', 'null'], enum: ['land', 'sea', null] },
    }
    expect(components.schemas.Log.properties).toMatchObject(added)
    expect(components.schemas.Log.required).toEqual(expect.arrayContaining(Object.keys(added)))
  })
})

describe('its line', () => {
  const record = createCallRecord()
  const extended = { ...record, refusals: 1, nextPlace: 'here', nextIsNear: true, nextWay: 'land' }
  const toBytes = (line: string) => new TextEncoder().encode(line.slice(0, -1))
  const load = (): Promise<typeof import('../../src/ledger/record-line.ts')> =>
    import(join(next.path, 'src/ledger/record-line.ts'))

  test('comes back, and counts as one of a later version for this build', async () => {
    const later = await load()
    const line = toBytes(later.encodeRecordLine(extended))
    expect<unknown>(later.decodeRecordLine(line)).toEqual(extended)
    expect(decodeRecordLine(line)).toBe('newer')
  })

  test('without the added column equals this build’s line, and both builds read it', async () => {
    const later = await load()
    expect(later.encodeRecordLine(record)).toBe(encodeRecordLine(record))
    expect(later.decodeRecordLine(toBytes(encodeRecordLine(record)))).toEqual(record)
  })

  test('has whole numbers', async () => {
    const later = await load()
    const wrong = { ...record, nextWaitMs: Number.NaN }
    expect<unknown>(later.decodeRecordLine(toBytes(later.encodeRecordLine(wrong)))).toEqual({
      ...record,
      nextWaitMs: 0,
    })
  })
})

test('a column for the dashboard is among its facts', async () => {
  const { CALL_FACTS }: typeof import('../../src/contract/call-facts.ts') = await import(
    join(next.path, 'src/contract/call-facts.ts')
  )
  expect<unknown>(CALL_FACTS[0]).toEqual({ name: 'nextPlace', type: 'text', title: 'Place' })
})
