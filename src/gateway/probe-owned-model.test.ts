/** What a probe asks of an owned model, and what it says of each way in which a server can answer, or not. */
import { describe, expect, test } from 'bun:test'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import {
  CUT,
  head,
  json,
  pause,
  piece,
  type Script,
  ScriptedUpstream,
  SILENCE,
  UNREACHABLE,
} from '../../test/support/scripted-upstream.ts'
import type { OwnedModel, OwnedModelDialect } from '../core/owned-model.ts'
import { Secret } from '../core/secret.ts'
import { AddressRefusedError } from '../upstream/address-guard.ts'
import { Deadlines } from '../upstream/deadlines.ts'
import { UpstreamFailure } from '../upstream/upstream-failure.ts'
import { toOwnedUpstream } from './owned-upstream.ts'
import { type ProbePorts, type ProbeResult, probeOwnedModel } from './probe-owned-model.ts'

const KEY = 'planted-owned-0123456789'
const SAID = 'planted-words-of-the-server'

interface Probe {
  readonly dialect?: OwnedModelDialect
  readonly script?: Script
  readonly locate?: (url: string, clock: ScriptedClock) => ReturnType<ProbePorts['addresses']['locate']>
  readonly hasNoCredential?: true
}

/** One probe from its beginning to its end, in as much scripted time as that takes. */
async function probe({ dialect = 'openai-chat', script, locate = plainly, hasNoCredential }: Probe) {
  const clock = new ScriptedClock()
  const deadlines = new Deadlines(clock)
  const upstream = new ScriptedUpstream(clock, deadlines, script === undefined ? [] : [script])
  const model = {
    slug: 'mine',
    dialect,
    baseUrl: 'https://models.example/v1',
    upstreamModelId: 'llama-7b',
  } as OwnedModel
  const credential = hasNoCredential ? undefined : ({ secret: new Secret(KEY), owner: 'account' } as const)
  const owned = toOwnedUpstream(model, credential)
  const ports = { clock, upstream, addresses: { locate: (url: string) => locate(url, clock) } }
  const result = await clock.finish(probeOwnedModel(ports, model, owned))
  expect(JSON.stringify(result)).not.toContain('planted-')
  expect(upstream.unusedScripts).toBe(0)
  expect(upstream.sent.map(({ state }) => state)).not.toContain('open')
  expect(deadlines.size).toBe(0)
  return { result, sent: upstream.sent[0] }
}

const plainly = async (url: string) => ({ url, host: undefined, serverName: undefined })

const reachable = (httpStatus: number, detail?: string): ProbeResult => ({
  status: 'reachable',
  latencyMs: 0,
  httpStatus,
  ...(detail === undefined ? {} : { detail }),
})
const unreachable = (detail: string, more: object = {}): ProbeResult => ({
  status: 'unreachable',
  latencyMs: 0,
  detail,
  ...more,
})

describe('asks for as little as the dialect allows', () => {
  const messages = [{ role: 'user', content: 'Hi' }]
  const model = 'llama-7b'
  const bearer = { authorization: `Bearer ${KEY}`, 'x-api-key': undefined }
  const keyed = { authorization: undefined, 'x-api-key': KEY, 'anthropic-version': '2023-06-01' }
  test.each<[OwnedModelDialect, string, object, object]>([
    ['openai-chat', '/chat/completions', bearer, { model, messages, max_tokens: 1 }],
    ['openai-responses', '/responses', bearer, { model, input: 'Hi', max_output_tokens: 16, store: false }],
    ['mistral-fim', '/fim/completions', bearer, { model, prompt: 'a', suffix: 'b', max_tokens: 1 }],
    ['anthropic-messages', '/v1/messages', keyed, { model, messages, max_tokens: 1 }],
  ])('%s', async (dialect, path, headers, body) => {
    const { sent, result } = await probe({ dialect, script: json(200, '{}') })
    expect(result).toEqual(reachable(200))
    expect(sent?.url).toBe(`https://models.example/v1${path}`)
    expect(JSON.parse(sent?.body ?? '')).toEqual(body)
    expect<unknown>({ authorization: undefined, 'x-api-key': undefined, ...sent?.headers }).toEqual({
      ...headers,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    })
  })

  test('at the address that was checked, under the host’s own name', async () => {
    const { sent } = await probe({
      script: json(200, '{}'),
      locate: async (url) => ({
        url: url.replace('models.example', '192.0.2.7'),
        host: 'models.example',
        serverName: 'models.example',
      }),
    })
    expect(sent).toMatchObject({
      url: 'https://192.0.2.7/v1/chat/completions',
      serverName: 'models.example',
      headers: { host: 'models.example' },
    })
  })
})

describe('an answer of', () => {
  const REFUSED = 'The server answered, and refused the test request itself.'
  const KEY_REFUSED = 'The server refused the credential.'
  const REDIRECT = 'The server answered with a redirect, which is not followed.'
  const NOTHING_HERE = 'The server has nothing at this address: are baseUrl and dialect right?'
  const FAILED = 'The server failed to answer.'
  test.each<[number, string | undefined, 'reachable' | 'unreachable']>([
    [101, REFUSED, 'reachable'],
    [200, undefined, 'reachable'],
    [201, undefined, 'reachable'],
    [299, undefined, 'reachable'],
    [300, REDIRECT, 'unreachable'],
    [307, REDIRECT, 'unreachable'],
    [399, REDIRECT, 'unreachable'],
    [400, REFUSED, 'reachable'],
    [401, KEY_REFUSED, 'unreachable'],
    [402, REFUSED, 'reachable'],
    [403, KEY_REFUSED, 'unreachable'],
    [404, NOTHING_HERE, 'unreachable'],
    [405, 'The server takes no such request at this address: is baseUrl right?', 'unreachable'],
    [422, REFUSED, 'reachable'],
    [429, REFUSED, 'reachable'],
    [499, REFUSED, 'reachable'],
    [500, FAILED, 'unreachable'],
    [503, FAILED, 'unreachable'],
    [529, FAILED, 'unreachable'],
  ])('%d', async (status, detail, finding) => {
    const headers = { location: 'https://elsewhere.test/' }
    const { result, sent } = await probe({ script: json(status, `{"message":"${SAID}"}`, headers) })
    expect(result).toEqual(
      finding === 'reachable' ? reachable(status, detail) : unreachable(detail ?? '', { httpStatus: status }),
    )
    // Only what can name the model is read.
    expect(sent?.taken).toBe(status === 400 || status === 404 ? 1 : 0)
  })
})

describe('of a refusal', () => {
  const UNKNOWN_MODEL = 'The server does not know the model: is upstreamModelId right?'
  test.each([
    'The model `llama-7b` does not exist',
    'model "llama-7b" not found, try pulling it first',
    '{"error":{"code":"MODEL_NOT_FOUND"}}',
    '{"error":{"type":"not_found_error","message":"model: llama-7b"}}',
    '{"message":"modelnotfound"}',
    'Invalid model: llama-7b',
    'invalid_model',
    'Unknown model llama-7b',
    'There is no such model',
  ])('%s: the model is not known', async (said) => {
    for (const status of [400, 404])
      expect((await probe({ script: json(status, `${said} ${SAID}`) })).result).toEqual(
        unreachable(UNKNOWN_MODEL, { httpStatus: status }),
      )
    // Where the status says it all, the words count for nothing.
    expect((await probe({ script: json(422, said) })).result.status).toBe('reachable')
  })

  test.each(['The path does not exist', 'The model is overloaded', ''])(
    '"%s" says nothing against the model’s name',
    async (said) => {
      expect((await probe({ script: json(400, said) })).result.status).toBe('reachable')
    },
  )

  const LIMIT = 16 * 1024
  test('no more is read than 16 KB, and all pieces of that count', async () => {
    const refused = head(400, { 'content-type': 'text/plain' })
    const first = piece(`${'x'.repeat(LIMIT - 15)}model not foun`)
    const within = await probe({ script: [refused, first, piece('d')] })
    expect(within.result.status).toBe('unreachable')
    expect(within.sent?.taken).toBe(2)
    const half = piece('x'.repeat(LIMIT / 2))
    const beyond = await probe({ script: [refused, half, half, piece('model not found')] })
    expect(beyond.result.status).toBe('reachable')
    expect(beyond.sent).toMatchObject({ taken: 2, state: 'closed' })
    // The server alone decides how large a piece is.
    const atOnce = await probe({ script: [refused, piece(`${'x'.repeat(LIMIT)}model not found`)] })
    expect(atOnce.result.status).toBe('reachable')
  })

  test('that breaks off nothing is concluded', async () => {
    const { result } = await probe({ script: [head(404), piece('model not'), CUT] })
    expect(result.status).toBe('unreachable')
    expect(result.httpStatus).toBeUndefined()
  })
})

describe('is out of reach', () => {
  const LATE = 'The server did not answer in time.'

  test('without a credential: nobody is asked', async () => {
    expect(await probe({ hasNoCredential: true })).toEqual({
      result: unreachable('It has no credential.'),
      sent: undefined,
    })
  })

  test('at an address that is not allowed: nobody is asked, and why is told', async () => {
    const locate = () => Promise.reject(new AddressRefusedError('It is private.'))
    expect(await probe({ locate })).toEqual({
      result: unreachable('The address is not allowed: It is private.'),
      sent: undefined,
    })
  })

  test('under a name that leads nowhere', async () => {
    const failure = new UpstreamFailure('connect_failed', 'The host name could not be resolved.')
    const { result } = await probe({ locate: () => Promise.reject(failure) })
    expect(result).toEqual(unreachable('The host name could not be resolved.'))
  })

  test('for a reason of our own, which is not told', async () => {
    const { result } = await probe({ locate: () => Promise.reject(new Error(SAID)) })
    expect(result).toEqual(unreachable('The server could not be reached.'))
  })

  test('where nobody listens', async () => {
    const { result } = await probe({ script: UNREACHABLE })
    expect(result).toMatchObject({ status: 'unreachable', detail: expect.stringContaining('connect_failed') })
  })

  test.each(['connect_timeout', 'first_byte_timeout', 'idle_timeout', 'total_timeout'] as const)(
    'by %s, all in the same words',
    async (failure) => {
      const { result } = await probe({ script: [{ type: 'fail', failure }] })
      expect(result).toEqual(unreachable(LATE))
    },
  )

  test('after three seconds in all, those counted for which its address was looked up', async () => {
    const slowly = async (url: string, clock: ScriptedClock) => {
      await new Promise<void>((resolve) => clock.after(1_000, resolve))
      return plainly(url)
    }
    const silent = await probe({ script: [SILENCE], locate: slowly })
    expect(silent.result).toMatchObject({ status: 'unreachable', detail: LATE })
    const all = { connectMs: 2_000, firstByteMs: 2_000, idleMs: 2_000, totalMs: 2_000 }
    expect(silent.sent?.timeouts).toEqual(all)

    const { result } = await probe({ script: [pause(1_900), ...json(200, '{}')], locate: slowly })
    expect(result).toEqual({ ...reachable(200), latencyMs: 2_900 })

    // A server that goes on and on is not waited for either.
    const dripping = await probe({ script: [head(400), piece('x'), pause(1_500), piece('x'), SILENCE] })
    expect(dripping.result).toMatchObject({ status: 'unreachable', detail: LATE })
  })

  test('when the look at its address has taken all the time', async () => {
    const locate = async (url: string, clock: ScriptedClock) => {
      await new Promise<void>((resolve) => clock.after(3_500, resolve))
      return plainly(url)
    }
    const { result, sent } = await probe({ script: [SILENCE], locate })
    expect(sent?.timeouts.totalMs).toBe(1)
    expect(result).toMatchObject({ status: 'unreachable', detail: LATE })
  })
})
