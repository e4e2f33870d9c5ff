import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../../test/support/databases.ts'
import {
  type AccountId,
  DEFAULT_ACCOUNT,
  type InvitationId,
  type SessionId,
  type UserId,
} from '../../core/ids.ts'
import { operatorOrigin, withOrigin } from '../changes/change-origin.ts'
import { openStore, type Store } from '../open-store.ts'
import type { Joining } from './join-account.ts'
import { assertSessionStays } from './users.ts'

let store: Store
const now = 1_800_000_000_000
const first: Joining = { type: 'first', accountId: DEFAULT_ACCOUNT }
let database: TestDatabase

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
  })
  afterEach(async () => {
    await store.close()
    await database.remove()
  })

  const create = (id: string, joining: Joining, at = now) =>
    store.users.create(
      { id: id as UserId, name: id, email: `${id}@example.test`, passwordHash: 'salt:hash' },
      joining,
      at,
    )

  async function invite(
    email: string,
    tokenSha256: string,
    accountId: AccountId = DEFAULT_ACCOUNT,
    invitedBy = 'key_1',
  ) {
    const invitation = {
      id: `inv_${tokenSha256}` as InvitationId,
      accountId,
      email,
      invitedBy,
      createdAt: now,
      expiresAt: now + 1000,
      acceptedAt: null,
    }
    await store.invitations.insert(invitation, tokenSha256)
  }
  const by = (tokenSha256: string): Joining => ({ type: 'invitation', tokenSha256 })

  test('a text with a NUL names no member', async () => {
    await create('ann', first)
    const nul = '\0' as UserId
    expect(await store.members.find(DEFAULT_ACCOUNT, nul)).toBeUndefined()
    expect(await store.members.findNamed(DEFAULT_ACCOUNT, nul)).toEqual([])
    const found = await store.members.findGiven(DEFAULT_ACCOUNT, [nul, 'ann'])
    expect(found.map(({ userId }) => String(userId))).toEqual(['ann'])
  })

  test('one of many first users at once owns the account, and the others leave nothing behind', async () => {
    const refusals = await Promise.all(['a', 'b', 'c'].map((id) => create(id, first)))
    expect(refusals.filter((refusal) => refusal === undefined)).toHaveLength(1)
    expect(refusals.filter((refusal) => refusal === 'not-first')).toHaveLength(2)
    expect(await store.members.listAll()).toMatchObject([
      { role: 'owner', accountId: DEFAULT_ACCOUNT },
    ])
    expect(await store.database.selectFrom('users').selectAll().execute()).toHaveLength(1)
    expect(await store.database.selectFrom('user_logins').selectAll().execute()).toHaveLength(1)
  })

  test('an invitation is for its address, until it expires, once; a refusal does not use it up', async () => {
    await create('owner', first)
    await invite('guest@example.test', 'one')
    expect(await create('other', by('one'))).toBe('not-invited')
    expect(await create('guest', by('two'))).toBe('not-invited')
    expect(await create('guest', by('one'), now + 1000)).toBe('not-invited')
    expect(await create('guest', by('one'))).toBeUndefined()
    expect(await create('guest', by('one'))).toBe('email-taken')
    expect(await store.members.find(DEFAULT_ACCOUNT, 'guest' as UserId)).toMatchObject({
      role: 'member',
    })
    expect(await store.members.find('acct_other' as AccountId, 'guest' as UserId)).toBeUndefined()
  })

  test('a user who accepts the invitations of two accounts at once joins one, and the other stays open', async () => {
    const other = 'acct_other' as AccountId
    const row = { id: other, name: 'Other', created_at: 1, plan: null }
    await store.database.insertInto('accounts').values(row).execute()
    const user = { id: 'vic' as UserId, email: 'vic@example.test' }
    const at = new Date(now).toISOString()
    await store.database
      .insertInto('users')
      .values({
        ...user,
        name: 'Vic',
        email_verified: 1,
        image: null,
        created_at: at,
        updated_at: at,
      })
      .execute()
    await invite(user.email, 'here')
    await invite(user.email, 'there', other)
    const refusals = await Promise.all(
      ['here', 'there'].map((token) => store.users.join(user, by(token), now)),
    )
    expect(refusals.toSorted()).toEqual(['not-invited', undefined])
    const rows = await store.database.selectFrom('invitations').selectAll().execute()
    const [accepted, ...others] = rows.filter((each) => each.accepted_at !== null)
    expect(others).toEqual([])
    expect(await store.members.listAll()).toMatchObject([
      { userId: 'vic', accountId: accepted?.account_id },
    ])
  })

  test('a personal account is created with its user, and not without', async () => {
    await create('owner', first)
    expect(await create('solo', { type: 'own', accountName: 'Solo' })).toBeUndefined()
    expect(await create('solo', { type: 'own', accountName: 'Solo' })).toBe('email-taken')
    const accounts = await store.database.selectFrom('accounts').selectAll().execute()
    expect(accounts.map(({ name, plan }) => ({ name, plan }))).toEqual([
      { name: 'Default account', plan: null },
      { name: 'Solo', plan: null },
    ])
  })

  test('an account always has one owner, whose ownership can be transferred and not removed', async () => {
    await create('owner', first)
    await invite('guest@example.test', 'one')
    await create('guest', by('one'))
    const transfer = (from: string, to: string) =>
      store.members.transferOwnership(DEFAULT_ACCOUNT, { from: from as UserId, to: to as UserId })
    expect(await transfer('guest', 'owner')).toBe(false)
    expect(await transfer('owner', 'nobody')).toBe(false)
    expect(await transfer('owner', 'owner')).toBe(false)
    expect(await store.members.remove(DEFAULT_ACCOUNT, 'owner' as UserId)).toBe(false)
    expect(await transfer('owner', 'guest')).toBe(true)
    expect(await store.members.remove('acct_other' as AccountId, 'owner' as UserId)).toBe(false)
    expect(await store.members.remove(DEFAULT_ACCOUNT, 'owner' as UserId)).toBe(true)
    expect(await store.members.listAll()).toMatchObject([{ userId: 'guest', role: 'owner' }])
    expect(await store.database.selectFrom('users').selectAll().execute()).toHaveLength(1)
    expect(await store.database.selectFrom('user_logins').selectAll().execute()).toHaveLength(1)
  })

  test('a member removed while inviting leaves no invitation behind', async () => {
    await create('owner', first)
    await invite('user_guest@example.test', 'one')
    await create('user_guest', by('one'))
    const session = 'ses_guest' as SessionId
    const time = new Date(now).toISOString()
    await store.database
      .insertInto('user_sessions')
      .values({
        ...{ id: session, user_id: 'user_guest' as UserId, token: 'hash' },
        ...{ ip_address: null, user_agent: null },
        ...{ created_at: time, updated_at: time, expires_at: time },
      })
      .execute()
    const invites = (token: string) =>
      withOrigin(
        operatorOrigin,
        () => invite('friend@example.test', token, DEFAULT_ACCOUNT, 'user_guest'),
        (transaction) => assertSessionStays(transaction, session),
      )
    await invites('two')
    const removed = store.members.remove(DEFAULT_ACCOUNT, 'user_guest' as UserId)
    await invites('three').catch(() => {})
    expect(await removed).toBe(true)
    await expect(invites('four')).rejects.toMatchObject({ kind: 'unauthorized' })
    for (const token of ['two', 'three', 'four'])
      expect(await create('friend', by(token))).toBe('not-invited')
  })

  test('expired sessions are swept, and so are unfinished sign-ins', async () => {
    await create('owner', first)
    for (const [id, at] of [
      ['old', now - 1],
      ['new', now + 1],
    ] as const) {
      const time = new Date(at).toISOString()
      const times = { created_at: time, updated_at: time, expires_at: time }
      await store.database
        .insertInto('user_sessions')
        .values({
          id: id as never,
          user_id: 'owner' as UserId,
          token: id,
          ip_address: null,
          user_agent: null,
          ...times,
        })
        .execute()
      await store.database
        .insertInto('user_verifications')
        .values({ id, identifier: id, value: id, ...times })
        .execute()
    }
    expect(await store.users.listSessions('owner' as UserId, now)).toMatchObject([{ id: 'new' }])
    await store.users.deleteExpired(now)
    expect(await store.database.selectFrom('user_sessions').select('id').execute()).toHaveLength(1)
    expect(
      await store.database.selectFrom('user_verifications').select('id').execute(),
    ).toHaveLength(1)
    const asked = ['old', 'new'] as SessionId[]
    expect(await store.users.findSessions(asked)).toEqual(new Set(['new']))
    expect(await store.users.deleteSession('other' as UserId, 'new')).toBe(false)
    expect(await store.users.deleteSession('owner' as UserId, 'new')).toBe(true)
  })
})
