import { afterEach, beforeEach, expect, test } from 'bun:test'
import { kyselyAdapter } from '@better-auth/kysely-adapter'
import { Kysely } from 'kysely'
import { BunSqliteDialect } from '../store/database/sqlite-driver.ts'
import { hashSessionTokens } from './wrap-adapter.ts'

interface Tables {
  session: {
    id: string
    token: string
    userId: string
    expiresAt: string
    createdAt: string
    updatedAt: string
  }
}

let database: Kysely<Tables>
let adapter: ReturnType<typeof hashSessionTokens>
const token = 'a-token-that-nobody-may-read'

beforeEach(async () => {
  database = new Kysely<Tables>({ dialect: new BunSqliteDialect(':memory:') })
  let table = database.schema
    .createTable('session')
    .addColumn('id', 'text')
    .addColumn('token', 'text')
  for (const name of ['userId', 'expiresAt', 'createdAt', 'updatedAt', 'ipAddress', 'userAgent']) {
    table = table.addColumn(name, 'text')
  }
  await table.execute()
  adapter = hashSessionTokens(kyselyAdapter(database, { type: 'sqlite' })({}))
})
afterEach(() => database.destroy())

function create(through: Pick<typeof adapter, 'create'> = adapter) {
  const now = new Date()
  return through.create<Record<string, unknown>>({
    model: 'session',
    data: { token, userId: 'u', expiresAt: now, createdAt: now, updatedAt: now },
  })
}
const byToken = [{ field: 'token', value: token }]
const stored = () => database.selectFrom('session').select('token').execute()

test('the database never holds a token, and a look-up by the token finds its session', async () => {
  expect(await create()).toMatchObject({ token })
  expect(JSON.stringify(await stored())).not.toContain(token)
  expect(await adapter.findOne<object>({ model: 'session', where: byToken })).toMatchObject({
    token,
    userId: 'u',
  })
  const many = [{ field: 'token', value: ['another', token], operator: 'in' as const }]
  expect(await adapter.findMany<object>({ model: 'session', where: many })).toMatchObject([
    { token },
  ])
  expect(await adapter.count({ model: 'session', where: byToken })).toBe(1)
})

test('a look-up by another field returns a hash instead of the token, and the hash finds no session', async () => {
  await create()
  const byUser = [{ field: 'userId', value: 'u' }]
  const [row] = await adapter.findMany<{ token: string }>({ model: 'session', where: byUser })
  expect(row?.token).not.toBe(token)
  const byHash = [{ field: 'token', value: `${row?.token}` }]
  expect(await adapter.findOne({ model: 'session', where: byHash })).toBeNull()
})

test('updates and deletions by token work too, even inside a transaction', async () => {
  await adapter.transaction(async (inner) => {
    await create(inner)
    const update = { userAgent: 'x' }
    expect(await inner.update<object>({ model: 'session', where: byToken, update })).toMatchObject({
      token,
    })
  })
  expect(JSON.stringify(await stored())).not.toContain(token)
  const renamed = await adapter.updateMany({
    model: 'session',
    where: byToken,
    update: { token: 'new one' },
  })
  expect(renamed).toBe(1)
  expect(JSON.stringify(await stored())).not.toContain('new one')
  await adapter.delete({ model: 'session', where: [{ field: 'token', value: 'new one' }] })
  expect(await stored()).toEqual([])
})
