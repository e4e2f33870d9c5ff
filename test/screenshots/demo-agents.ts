/**
 * A month of coding agents that never ran: people with sessions, subagents and tags, so that the
 * pages of people and sessions look as they do in use. Repeatable.
 */
import { join } from 'node:path'
import type { CallRecord } from '../../src/core/call.ts'
import { createCallId, DEFAULT_ACCOUNT, type GateId, type KeyId } from '../../src/core/ids.ts'
import type { Usage } from '../../src/core/usage.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createPricing, createRandom } from './demo-history.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const DAYS = 30
const BATCH = 512

const PEOPLE = [
  ...['ada', 'alan', 'barbara', 'dennis', 'donald', 'edsger', 'frances', 'grace', 'ivan', 'joan'],
  ...['john', 'ken', 'margaret', 'niklaus', 'radia', 'shafi', 'tim', 'vint'],
].map((name) => `${name}@example.com`)
const TEAMS = ['team:search', 'team:payments', 'team:platform']
const REPOSITORIES = ['repo:storefront', 'repo:ledger', 'repo:infra', 'repo:mobile']

const MAIN = ['anthropic/claude-sonnet-4-5', 'openai/gpt-5'] as const
const SUBAGENT = 'anthropic/claude-haiku-4-5'

const hashOf = (kind: string, name: string) =>
  new Bun.CryptoHasher('sha256').update(`${kind} ${name}`).digest('hex').slice(0, 16)
const userOf = (name: string) => `end:${hashOf('user', name)}`
const tagOf = (name: string) => hashOf('tag', name)

/** @returns how many calls were made up */
export async function seedAgents(dataFolder: string, key: string, now: number): Promise<number> {
  const store = await openStore({ path: join(dataFolder, 'gatehouse.db') })
  try {
    const named = (kind: 'user' | 'tag', hash: string, name: string) =>
      ({ accountId: DEFAULT_ACCOUNT, kind, hash, name }) as const
    await store.callerNames.write(
      [
        ...PEOPLE.map((name) => named('user', userOf(name), name)),
        ...[...TEAMS, ...REPOSITORIES].map((name) => named('tag', tagOf(name), name)),
      ],
      now,
    )
    const random = createRandom(23)
    const sessions = PEOPLE.flatMap((name, index) => planSessions(name, index, { random, now }))
    const price = createPricing()
    const calls = sessions.flatMap((session) => makeSession(session, { random, price, key }))
    const past = calls.filter(({ startedAt }) => startedAt < now)
    past.sort((left, right) => left.startedAt - right.startedAt)
    for (let from = 0; from < past.length; from += BATCH)
      await store.calls.insertMany(past.slice(from, from + BATCH))
    return past.length
  } finally {
    await store.close()
  }
}

interface Session {
  readonly id: string
  readonly name: string
  readonly startedAt: number
  readonly calls: number
  readonly target: string
  readonly tags: string
}

function planSessions(
  name: string,
  index: number,
  { random, now }: { readonly random: () => number; readonly now: number },
): readonly Session[] {
  // Few people do most of the work.
  const perDay = 3.2 / (1 + index * 0.35)
  const planned: Session[] = []
  for (let day = DAYS; day >= 0; day -= 1) {
    const midnight = now - (now % DAY_MS) - day * DAY_MS
    const isWeekend = new Date(midnight).getUTCDay() % 6 === 0
    const count = Math.floor(perDay * (isWeekend ? 0.2 : 1) + random())
    for (let number = 0; number < count; number += 1)
      planned.push({
        id: hashOf('session', `${name} ${day} ${number}`),
        name,
        startedAt: midnight + Math.floor((8 + random() * 9) * HOUR_MS),
        calls: 6 + Math.floor(random() ** 2 * 54),
        target: MAIN[random() < 0.7 ? 0 : 1],
        tags: [
          tagOf(TEAMS[index % TEAMS.length] ?? ''),
          tagOf(REPOSITORIES[Math.floor(random() * REPOSITORIES.length)] ?? ''),
        ].join(' '),
      })
  }
  return planned
}

interface Making {
  readonly random: () => number
  readonly price: ReturnType<typeof createPricing>
  readonly key: string
}

function makeSession(session: Session, { random, price, key }: Making): readonly CallRecord[] {
  const explore = hashOf('agent', `${session.id} explore`)
  const review = hashOf('agent', `${session.id} review`)
  const hasSubagents = session.calls > 18
  let startedAt = session.startedAt
  let context = 14_000 + random() * 6_000
  return Array.from({ length: session.calls }, (_, index): CallRecord => {
    const isExploring = hasSubagents && index % 12 > 7
    const isReviewing = isExploring && index % 24 > 21
    const agent = isReviewing ? review : isExploring ? explore : undefined
    const hasFailed = random() < 0.02
    const durationMs = Math.round(2_500 + random() ** 2 * 32_000)
    context = context > 150_000 ? 24_000 : context + 800 + random() * 5_200
    const inputTokens = Math.round(isExploring ? 9_000 + random() * 20_000 : context)
    const usage: Usage = {
      inputTokens,
      outputTokens: Math.round(120 + random() ** 2 * 2_600),
      cachedInputTokens: index === 0 ? 0 : Math.round(inputTokens * (0.78 + random() * 0.18)),
      reasoningTokens: 0,
    }
    const target = isExploring ? SUBAGENT : session.target
    const call: CallRecord = {
      id: createCallId(),
      accountId: DEFAULT_ACCOUNT,
      keyId: key as KeyId,
      gateId: 'coding' as GateId,
      dialect: 'anthropic-messages',
      stream: true,
      target,
      attempts: 1,
      outcome: hasFailed ? 'failed' : 'succeeded',
      status: hasFailed ? 502 : 200,
      errorKind: hasFailed ? 'upstream_error' : null,
      startedAt: Math.round(startedAt),
      firstByteMs: hasFailed ? null : Math.round(600 + random() * 1_800),
      durationMs,
      credential: 'platform',
      usage: hasFailed ? null : usage,
      cost: hasFailed ? { nanoUsd: null, status: 'unknown', source: null } : price(target, usage),
      user: userOf(session.name),
      session: session.id,
      tags: session.tags,
      ...(agent !== undefined && { agent }),
      ...(isReviewing && { parentAgent: explore }),
    }
    startedAt += durationMs + random() * 40_000
    return call
  })
}
