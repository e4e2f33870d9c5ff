/** A part of a target's name as a filter: the same calls on each database, whatever it holds. */
import { expect, test } from 'bun:test'
import { databases } from '../../../test/support/databases.ts'
import type { CallId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore } from '../open-store.ts'

test.each(databases)('wildcards of LIKE stand for themselves on $name', async (kind) => {
  const database = await kind.create()
  const store = await openStore(database.location)
  try {
    const { accountId } = createCallRecord()
    const targets = ['openai/gpt-5', 'groq/100%_done', 'groq/100x-done', 'owned/GPT!\\', null]
    await store.calls.insertMany(
      targets.map((target, index) =>
        createCallRecord({ id: `req_${index}` as CallId, target, startedAt: index + 1 }),
      ),
    )
    const find = async (targetPart: string) =>
      (await store.calls.findPage(accountId, { targetPart }, { limit: 10 })).calls.map(
        ({ id }) => id,
      )
    expect(await find('Gpt')).toEqual(['req_3', 'req_0'] as CallId[])
    expect(await find('%_')).toEqual(['req_1'] as CallId[])
    expect(await find('0_d')).toEqual([])
    expect(await find('!')).toEqual(['req_3'] as CallId[])
    expect(await find('\\')).toEqual(['req_3'] as CallId[])
  } finally {
    await store.close()
    await database.remove()
  }
})
