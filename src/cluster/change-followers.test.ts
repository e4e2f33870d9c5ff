/** The registry that reads a change, and the handling of one that cannot be read. */
import { describe, expect, test } from 'bun:test'
import type { AccountId } from '../core/ids.ts'
import { RESOURCE_ENTRIES } from '../core/resource-table.ts'
import type { FollowedChange } from '../store/changes/change-feed.ts'
import { ChangeFollowers, type Follower, type Followers } from './change-followers.ts'

const ACME = 'acct_acme' as AccountId
const OTHER = 'acct_other' as AccountId
const FOLLOWED_RESOURCES = RESOURCE_ENTRIES.filter(([, { follow }]) => follow !== undefined).map(
  ([word]) => word,
)

const ENDED = [{ id: 'key_1', calls: 2 }]

function start() {
  const told: string[] = []
  const steps: number[] = []
  const follower = (name: string): Follower => ({
    follow: async (things) => {
      for (const { accountId, id } of things) told.push(`${name} ${accountId} ${id}`)
      steps.push(things.length)
    },
    followAll: async () => void told.push(`all of ${name}`),
  })
  const forget = (accountId: AccountId, id: string) => void told.push(`forget ${accountId} ${id}`)
  const each = Object.fromEntries(FOLLOWED_RESOURCES.map((name) => [name, follower(name)]))
  const stop = {
    ...follower('stop'),
    forget: (accountId: AccountId, id: string) => void told.push(`lift ${accountId} ${id}`),
    followBlindly: (accountId: AccountId, id: string) => void told.push(`stop ${accountId} ${id}`),
  }
  const key = { ...follower('key'), forget }
  const followers = { ...each, key, stop } as unknown as Followers
  const end = () => {
    told.push('end')
    return ENDED
  }
  return { told, steps, followers: new ChangeFollowers(followers, end) }
}

function changeOf(change: Partial<FollowedChange>): FollowedChange {
  return {
    seq: 1,
    accountId: ACME,
    resourceType: 'gate',
    resourceId: 'gate_1',
    operation: 'update',
    ...change,
  }
}

test('each changed resource is read once, by the registry of its kind', async () => {
  const { told, followers } = start()
  await followers.follow([
    changeOf({}),
    changeOf({ seq: 2, resourceType: 'key', resourceId: 'key_1' }),
    changeOf({ seq: 3, operation: 'delete' }),
    changeOf({ seq: 4, accountId: OTHER }),
    changeOf({ seq: 5, resourceId: 'gate_2' }),
  ])
  expect(told.toSorted()).toEqual([
    'end',
    'gate acct_acme gate_1',
    'gate acct_acme gate_2',
    'gate acct_other gate_1',
    'key acct_acme key_1',
  ])
})

test('changes of kinds that this version does not hold are passed over', async () => {
  const { told, followers } = start()
  await followers.follow([
    changeOf({ resourceType: 'spaceship' }),
    changeOf({ resourceType: 'toString' }),
  ])
  await followers.follow([changeOf({ resourceType: 'gate' })])
  expect(told).toEqual(['gate acct_acme gate_1'])
})

test('only the changed resources are read, however many, some of them with one question', async () => {
  const { told, steps, followers } = start()
  const changes = Array.from({ length: 450 }, (_, index) =>
    changeOf({ seq: index, resourceId: `gate_${index % 225}` }),
  )
  await followers.follow([...changes, changeOf({ resourceType: 'key', resourceId: 'key_1' })])
  expect(told).toHaveLength(227)
  expect(new Set(told).size).toBe(227)
  expect(told.filter((name) => name.startsWith('all'))).toEqual([])
  expect(steps).toEqual([100, 100, 25, 1])
})

test.each(['key', 'stop'])(
  'calls end once after a change of a %s is read',
  async (resourceType) => {
    const { told, followers } = start()
    const ended = await followers.follow([changeOf({ resourceType, resourceId: 'key_1' })])
    expect(told).toEqual([`${resourceType} acct_acme key_1`, 'end'])
    expect(ended).toEqual(ENDED)
    expect(await followers.follow([changeOf({ resourceType: 'gate' })])).toEqual([])
    expect(await followers.followAll()).toEqual(ENDED)
  },
)

test('it resolves when all changes are read, and not before', async () => {
  const { told, followers } = start()
  const { promise, resolve } = Promise.withResolvers<void>()
  let isDone = false
  const slow = new ChangeFollowers(
    { gate: { follow: () => promise } } as unknown as Followers,
    () => [],
  )
  const following = slow.follow([changeOf({})]).then(() => {
    isDone = true
  })
  await followers.followAll()
  expect(told).toHaveLength(FOLLOWED_RESOURCES.length + 1)
  expect(isDone).toBe(false)
  resolve()
  await following
})

describe('without the store', () => {
  test('a deleted key is gone at once', () => {
    const { told, followers } = start()
    const change = changeOf({ resourceType: 'key', resourceId: 'key_1', operation: 'delete' })
    expect(followers.followBlindly(change)).toBe(true)
    expect(told).toEqual(['forget acct_acme key_1', 'end'])
  })

  test('a stop and its lifting hold at once', () => {
    const { told, followers } = start()
    const change = changeOf({ resourceType: 'stop', resourceId: 'user_1', operation: 'insert' })
    expect(followers.followBlindly(change)).toBe(true)
    expect(followers.followBlindly({ ...change, operation: 'delete' })).toBe(true)
    expect(told).toEqual(['stop acct_acme user_1', 'end', 'lift acct_acme user_1', 'end'])
  })

  test.each([
    ['key', 'insert', false],
    ['key', 'update', false],
    ['gate', 'delete', false],
    ['provider-key', 'update', false],
    ['owned-model', 'insert', false],
    // They decide neither who may call nor whom a call goes to.
    ['webhook', 'insert', true],
    ['budget', 'delete', true],
    ['reload', 'insert', true],
  ] as const)('%s %s: whether this process may go on: %p', (resourceType, operation, mayGoOn) => {
    const { told, followers } = start()
    expect(followers.followBlindly(changeOf({ resourceType, operation }))).toBe(mayGoOn)
    expect(told).toEqual([])
  })
})
