/** Tells what the start of the gateway made from what the user made. Pure. */
import type { RowOf } from '../../api/ask.ts'

// provider-name-ok: the sandbox is part of the gateway
const SANDBOX = 'sandbox'
const DEMO_GATE = 'demo'
const FIRST_KEY = 'first key'

type Gate = Pick<RowOf<'GET /v1/gates'>, 'id' | 'targets' | 'createdAt' | 'updatedAt'>
type Key = Pick<RowOf<'GET /v1/keys'>, 'name' | 'createdBy'>

export const isMadeByStart = {
  /** The built-in sandbox, or the vendors that it plays. */
  provider: ({ id }: Pick<RowOf<'GET /v1/providers'>, 'id'>): boolean =>
    id === SANDBOX || id.startsWith(`${SANDBOX}-`),
  /** The demo gate of the sandbox, as long as nobody has changed it. */
  gate: ({ id, targets, createdAt, updatedAt }: Gate): boolean =>
    id === DEMO_GATE &&
    createdAt === updatedAt &&
    targets.every(({ model }) => model.startsWith(`${SANDBOX}/`)),
  /** The key that the first start printed. */
  key: ({ name, createdBy }: Key): boolean =>
    name === FIRST_KEY && (createdBy === null || createdBy === 'operator'),
}
