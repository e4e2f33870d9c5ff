import { expect, test } from 'bun:test'
import { pollUntil } from '../../test/support/poll-until.ts'
import { type AccountId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import { followCosts } from './follow-costs.ts'

const other = 'acct_other' as AccountId

test('the counters of each account with corrected costs rise, once', async () => {
  const raised: unknown[] = []
  const follower = followCosts(async (accountId) => void raised.push(accountId), { error() {} })
  const ids = ['2026-11-01', '2026-11-02'].map((id) => ({ accountId: DEFAULT_ACCOUNT, id }))
  await follower.follow([...ids, { accountId: other, id: '2026-11-01' }])
  expect(raised).toEqual([DEFAULT_ACCOUNT, other])
})

test('the counters of all accounts rise after missed changes', async () => {
  const raised: unknown[] = []
  const follower = followCosts(async (accountId) => void raised.push(accountId), { error() {} })
  await follower.followAll()
  expect(raised).toEqual([undefined])
})

test('a failure is logged, and holds up nothing', async () => {
  const logged: unknown[] = []
  const follower = followCosts(() => Promise.reject(new Error('the store is away')), {
    error: (fields) => void logged.push(fields),
  })
  await follower.follow([{ accountId: other, id: '2026-11-01' }])
  await pollUntil('the log', async () => logged.length > 0 || undefined)
  expect(logged).toMatchObject([{ accountId: other, err: { message: 'the store is away' } }])
})
