/**
 * Stands between better-auth and its adapter: changes what is asked or written on the way in, and
 * rows on the way out, in transactions too. Knows no table.
 */
import type { DBAdapter, Where } from '@better-auth/core/db/adapter'

export interface AdapterCall {
  readonly model: string
  readonly where?: Where[] | undefined
  /** Of a change. */
  readonly update?: Record<string, unknown>
  /** Of a new row. */
  readonly data?: Record<string, unknown>
}

export interface AdapterChange {
  readonly ask: <Call extends AdapterCall>(call: Call) => Call
  /** @param call as better-auth made it */
  readonly tell: <Row>(row: Row, call: AdapterCall) => Row
}

type TransactionAdapter = Omit<DBAdapter, 'transaction'>

export function wrapAdapter(adapter: DBAdapter, change: AdapterChange): DBAdapter {
  return {
    ...wrap(adapter, change),
    transaction: (callback) => adapter.transaction((inner) => callback(wrap(inner, change))),
  }
}

function wrap<Inner extends TransactionAdapter>(inner: Inner, { ask, tell }: AdapterChange): Inner {
  const wrapped: TransactionAdapter = {
    ...inner,
    create: async (call) => tell(await inner.create(ask(call)), call) as never,
    findOne: async (call) => tell(await inner.findOne(ask(call)), call),
    findMany: async (call) =>
      (await inner.findMany(ask(call))).map((row) => tell(row, call)) as never,
    count: (call) => inner.count(ask(call)),
    update: async (call) => tell(await inner.update(ask(call)), call),
    updateMany: (call) => inner.updateMany(ask(call)),
    delete: (call) => inner.delete(ask(call)),
    deleteMany: (call) => inner.deleteMany(ask(call)),
    consumeOne: async (call) => tell(await inner.consumeOne(ask(call)), call),
    incrementOne: async (call) => tell(await inner.incrementOne(ask(call)), call),
  }
  return wrapped as Inner
}
