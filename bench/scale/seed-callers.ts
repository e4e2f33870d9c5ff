/**
 * Stores a history of coding agents with the product's own writers: calls with users, sessions,
 * subagents and tags over the last 30 days, the names of users and tags, and an access token for
 * each user.
 */
import { NO_RULES } from '../../src/core/access-token.ts'
import { hashApiKey, maskApiKey } from '../../src/core/api-key.ts'
import type { CallRecord } from '../../src/core/call.ts'
import { DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../src/core/ids.ts'
import type { Store } from '../../src/store/open-store.ts'
import { toKeyRow } from '../../src/store/resources/keys.ts'
import { createProgress } from './progress.ts'
import { seedApart, seedFromArguments } from './seed-apart.ts'
import { createCalls, DAY_MS } from './seed-calls.ts'
import { keyRecord, seedGate } from './start-node.ts'
import type { Place } from './with-store.ts'

export interface Callers {
  readonly calls: number
  readonly users: number
  readonly sessions: number
}

const DAYS = 30
const BATCH = 512
const ROWS_AT_ONCE = 200
const SESSION_MS = 25 * 60_000
const TEAMS = 20
const REPOSITORIES = 200
const MODELS = ['anthropic/claude-opus-5', 'openai/gpt-5', 'mistral/large', 'openai/gpt-5-mini']

const hashOf = (kind: string, number: number) =>
  new Bun.CryptoHasher('sha256').update(`${kind} ${number}`).digest('hex').slice(0, 16)

export const userOf = (number: number) => `end:${hashOf('user', number)}`
export const sessionOf = (number: number) => hashOf('session', number)
export const teamOf = (number: number) => hashOf('team', number % TEAMS)
const repositoryOf = (number: number) => hashOf('repository', number % REPOSITORIES)
const tokenOf = (number: number) => `key_${hashOf('token', number)}` as KeyId

/** Half of the sessions belong to a quarter of the users. */
export function userOfSession(session: number, users: number): number {
  const place = ((session * 7_919) % 10_007) / 10_007
  return Math.floor(place * place * users)
}

export async function seedCallersApart(
  place: Pick<Place, 'dataFolder' | 'environment'>,
  callers: Callers,
): Promise<void> {
  await seedApart(import.meta.path, place, callers)
}

async function seedCallers(store: Store, callers: Callers): Promise<void> {
  await store.keys.insert(keyRecord())
  await seedGate(store)
  await seedTokens(store, callers.users)
  await seedNames(store, callers.users)
  const report = createProgress('calls', callers.calls)
  const endMs = Date.now()
  let written = 0
  for (let day = 0; day < DAYS; day += 1) {
    const calls = callsOfDay(callers, { day, startMs: endMs - (DAYS - day) * DAY_MS })
    for (let start = 0; start < calls.length; start += BATCH) {
      await store.calls.insertMany(calls.slice(start, start + BATCH))
      report(written + start)
    }
    written += calls.length
  }
}

function callsOfDay(
  { calls, users, sessions }: Callers,
  { day, startMs }: { readonly day: number; readonly startMs: number },
): readonly CallRecord[] {
  const [first, end] = [day, day + 1].map((of) => Math.floor((of * sessions) / DAYS))
  const made: CallRecord[] = []
  for (let session = first ?? 0; session < (end ?? 0); session += 1) {
    const [from, to] = [session, session + 1].map((of) => Math.floor((of * calls) / sessions))
    const count = (to ?? 0) - (from ?? 0)
    const user = userOfSession(session, users)
    const beganMs = startMs + ((session * 104_729) % (DAY_MS - SESSION_MS))
    const subagent = session % 3 === 0 ? hashOf('agent', session) : undefined
    for (const call of createCalls(count, (index) => {
      const isFailed = (session + index * 31) % 40 === 0
      return {
        keyId: tokenOf(user),
        gateId: `gate-${session % 20}` as GateId,
        target: MODELS[(session + (index % 5 === 4 ? 1 : 0)) % MODELS.length] ?? null,
        stream: true,
        startedAt: beganMs + Math.floor((index * SESSION_MS) / count),
        firstByteMs: 300 + ((session * 31 + index * 977) % 4_000),
        durationMs: 2_000 + ((session * 977 + index * 7_919) % 60_000),
        outcome: isFailed ? 'failed' : 'succeeded',
        status: isFailed ? 502 : 200,
        errorKind: isFailed ? 'upstream_error' : null,
        usage: {
          inputTokens: 20_000 + index * 3_000,
          outputTokens: 400 + (index % 7) * 150,
          cachedInputTokens: 18_000 + index * 2_500,
          reasoningTokens: 100,
        },
        cost: { nanoUsd: 9_000_000 + (session % 97) * 800_000, status: 'exact', source: 'bench@1' },
        user: userOf(user),
        session: sessionOf(session),
        ...(subagent !== undefined && index % 4 > 1 && { agent: subagent }),
        tags: `${teamOf(user)} ${repositoryOf(session)}`,
      }
    }))
      made.push(call)
  }
  return made.sort((one, other) => one.startedAt - other.startedAt)
}

async function seedNames(store: Store, users: number): Promise<void> {
  const named = (kind: 'user' | 'tag', hash: string, name: string) =>
    ({ accountId: DEFAULT_ACCOUNT, kind, hash, name }) as const
  const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)
  await store.callerNames.write(
    [
      ...numbers(users).map((number) => named('user', userOf(number), `person-${number}@bench`)),
      ...numbers(TEAMS).map((number) => named('tag', teamOf(number), `team-${number}`)),
      ...numbers(REPOSITORIES).map((number) =>
        named('tag', repositoryOf(number), `repo:bench-${number}`),
      ),
    ],
    Date.now(),
  )
}

async function seedTokens(store: Store, count: number): Promise<void> {
  const createdAt = Date.now() - count
  for (let first = 0; first < count; first += ROWS_AT_ONCE) {
    const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, count - first) }, (_, index) => {
      const number = first + index
      const text = `at-svc-${number.toString(16).padStart(64, '0')}`
      return toKeyRow({
        ...{ accountId: DEFAULT_ACCOUNT, id: tokenOf(number), name: `token ${number}` },
        ...{ token: NO_RULES, sha256: hashApiKey(text), maskedPrefix: maskApiKey(text) },
        createdAt: createdAt + number,
        ...{ lastUsedAt: null, createdBy: null, expiresAt: null, previous: null },
      })
    })
    await store.database.insertInto('api_keys').values(rows).execute()
  }
}

if (import.meta.main) await seedFromArguments(seedCallers)
