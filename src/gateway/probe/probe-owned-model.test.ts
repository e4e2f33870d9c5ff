import { describe, expect, test } from 'bun:test'
import { ScriptedClock } from '../../../test/support/scripted-clock.ts'
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
} from '../../../test/support/scripted-upstream.ts'
import type { OwnedModelDialect } from '../../core/dialects.ts'
import type { CredentialHeader, OwnedModel, ServerTraits } from '../../core/owned-model.ts'
import { Secret } from '../../core/secret.ts'
import { AddressRefusedError } from '../../net/address-guard.ts'
import { Deadlines } from '../../net/deadlines.ts'
import type { Upstream } from '../../net/exchange.ts'
import { UpstreamFailure } from '../../net/upstream-failure.ts'
import { toOwnedUpstream } from '../plan/owned-upstream.ts'
import { type ProbePorts, type ProbeResult, probeOwnedModel } from './probe-owned-model.ts'

const KEY = 'planted-owned-0123456789'
const SAID = 'planted-words-of-the-server'

type Asked = readonly [path: string, body: object]

interface Probe {
  readonly dialect?: OwnedModelDialect
  readonly credentialHeader?: CredentialHeader
  /** Traits from earlier probes. */
  readonly found?: ServerTraits
  readonly scripts?: readonly Script[]
  readonly resolve?: (
    url: string,
    clock: ScriptedClock,
  ) => ReturnType<ProbePorts['addresses']['resolve']>
  /** `unopened`: the master key does not decrypt the credential. */
  readonly credential?: 'unopened' | 'none'
  readonly timeoutMs?: number
}

/** Runs one probe to its end in scripted time. The default dialect has a single question. */
async function probe({
  dialect = 'openai-responses',
  credentialHeader = 'auto',
  found,
  scripts = [],
  resolve = plainly,
  credential: kind,
  timeoutMs = 3_000,
}: Probe) {
  const clock = new ScriptedClock()
  const deadlines = new Deadlines(clock)
  const upstream = new ScriptedUpstream(clock, deadlines, scripts)
  const model = {
    slug: 'mine',
    dialect,
    baseUrl: 'https://models.example/v1',
    upstreamModelId: 'llama-7b',
    credentialHeader,
    // probe-fim.test.ts tests the other abilities.
    fimEndpoint: 'fim-completions',
    fimTemplate: 'auto',
    probe: found === undefined ? null : { status: 'reachable', checkedAt: 1, latencyMs: 1, found },
  } as OwnedModel
  const secret = kind === 'none' ? undefined : new Secret(KEY)
  const credential = kind === 'unopened' ? undefined : ({ secret, owner: 'account' } as const)
  const owned = toOwnedUpstream(model, credential)
  const ports = { clock, upstream, addresses: { resolve: (url: string) => resolve(url, clock) } }
  const interim: ProbeResult[] = []
  const { signal } = new AbortController()
  const onInterim = (known: ProbeResult) => void interim.push(known)
  const result = await clock.finish(
    probeOwnedModel(ports, model, owned, { timeoutMs, signal, onInterim }),
  )
  if (result === undefined) throw new Error('Nobody has called it off.')
  expect(JSON.stringify([result, interim])).not.toContain('planted-')
  expect(upstream.unusedScripts).toBe(0)
  expect(upstream.sent.map(({ state }) => state)).not.toContain('open')
  expect(deadlines.size).toBe(0)
  return { result, interim, sent: upstream.sent }
}

const plainly = async () => ['203.0.113.7']

const reachable = (httpStatus: number, more: object = {}): ProbeResult => ({
  status: 'reachable',
  latencyMs: 0,
  httpStatus,
  ...more,
})
const unreachable = (detail: string, more: object = {}): ProbeResult => ({
  status: 'unreachable',
  latencyMs: 0,
  detail,
  ...more,
})

/** Minimal answers. */
const ANSWERS: Readonly<Record<OwnedModelDialect, object>> = {
  'openai-chat': { choices: [{ index: 0, message: { role: 'assistant', content: 'H' } }] },
  'openai-responses': { object: 'response', output: [] },
  'mistral-fim': { choices: [{ index: 0, message: { role: 'assistant', content: 'x' } }] },
  'anthropic-messages': { type: 'message', content: [] },
  'openai-embeddings': { object: 'list', data: [{ index: 0, embedding: [0.5] }] },
}
const ANSWER = json(200, ANSWERS['openai-responses'])
const NO_SUCH_PATH = json(404, { detail: 'Not Found' })

describe('a model without a credential', () => {
  test.each<[OwnedModelDialect, number]>([
    ['openai-chat', 2],
    ['openai-responses', 1],
    ['mistral-fim', 1],
    ['anthropic-messages', 2],
    ['openai-embeddings', 1],
  ])('of the dialect %s is asked without any header for one', async (dialect, questions) => {
    const scripts = [json(200, ANSWERS[dialect]), ...(questions === 2 ? [NO_SUCH_PATH] : [])]
    const { result, sent } = await probe({ dialect, credential: 'none', scripts })
    expect(result).toMatchObject({ status: 'reachable', httpStatus: 200 })
    expect(result.found?.credentialHeader).toBeUndefined()
    expect(sent).toHaveLength(questions)
    for (const { headers } of sent)
      expect(Object.keys(headers).filter((name) => /auth|key/.test(name))).toEqual([])
  })

  test.each(['openai-chat', 'mistral-fim', 'anthropic-messages'] as const)(
    'of dialect %s is probed once, and the error says that its server wants one',
    async (dialect) => {
      const scripts = [json(401, { error: { message: SAID } })]
      const { result } = await probe({ dialect, credential: 'none', scripts })
      expect(result).toMatchObject({
        status: 'unreachable',
        httpStatus: 401,
        detail: 'The server requires a credential, and the model has none. Set a credential.',
      })
    },
  )
})

describe('asks for as little as the dialect allows', () => {
  const messages = [{ role: 'user', content: 'Hi' }]
  const model = 'llama-7b'
  const bearer = { authorization: `Bearer ${KEY}`, 'x-api-key': undefined }
  const keyed = { authorization: undefined, 'x-api-key': KEY, 'anthropic-version': '2023-06-01' }
  const embeds: Asked[] = [['/embeddings', { model, input: 'Hi' }]]
  const counts: Asked[] = [['/v1/messages/count_tokens', { model, messages }]]
  test.each<[OwnedModelDialect, string, object, object, readonly Asked[]]>([
    ['openai-chat', '/chat/completions', bearer, { model, messages, max_tokens: 1 }, embeds],
    [
      'openai-responses',
      '/responses',
      bearer,
      { model, input: 'Hi', max_output_tokens: 16, store: false },
      [],
    ],
    [
      'mistral-fim',
      '/fim/completions',
      bearer,
      { model, prompt: 'a', suffix: 'b', max_tokens: 1 },
      [],
    ],
    ['anthropic-messages', '/v1/messages', keyed, { model, messages, max_tokens: 1 }, counts],
    ['openai-embeddings', '/embeddings', bearer, { model, input: 'Hi' }, []],
  ])('%s', async (dialect, path, headers, body, further) => {
    const { sent, result } = await probe({
      dialect,
      scripts: [json(200, ANSWERS[dialect]), ...further.map(() => NO_SUCH_PATH)],
    })
    expect(result).toMatchObject({ status: 'reachable', httpStatus: 200 })
    const asked = [[path, body], ...further]
    expect(sent.map(({ url, body: text }) => [url, JSON.parse(text)])).toEqual(
      asked.map(([at, question]) => [`https://models.example/v1${at}`, question]),
    )
    for (const { headers: with_ } of sent)
      expect<unknown>({ authorization: undefined, 'x-api-key': undefined, ...with_ }).toEqual({
        ...headers,
        'content-type': 'application/json',
        'accept-encoding': 'identity',
      })
  })

  test('at the address that was checked, under the host’s own name', async () => {
    const { sent } = await probe({
      scripts: [ANSWER],
      resolve: async () => ['192.0.2.7'],
    })
    expect(sent[0]).toMatchObject({
      url: 'https://models.example/v1/responses',
      addresses: ['192.0.2.7'],
    })
  })
})

const REFUSED = 'The server answered but refused the test request.'
const KEY_REFUSED = 'The server refused the credential.'
const REDIRECT = 'The server answered with a redirect, which is not followed.'
const NOTHING_HERE = 'The server has no endpoint at this address. Check baseUrl and dialect.'
const FAILED = 'The server failed to answer.'
const otherFormat = (status: number) =>
  `The server answered HTTP ${status} with something that is not an answer in the model’s format. Check baseUrl and dialect.`

describe('an error of', () => {
  test.each<[number, string, 'reachable' | 'unreachable']>([
    [300, REDIRECT, 'unreachable'],
    [307, REDIRECT, 'unreachable'],
    [399, REDIRECT, 'unreachable'],
    [400, REFUSED, 'reachable'],
    [401, KEY_REFUSED, 'unreachable'],
    [402, REFUSED, 'reachable'],
    [403, KEY_REFUSED, 'unreachable'],
    [404, NOTHING_HERE, 'unreachable'],
    [
      405,
      'The server does not accept such requests at this address. Check baseUrl.',
      'unreachable',
    ],
    [422, REFUSED, 'reachable'],
    [429, REFUSED, 'reachable'],
    [499, REFUSED, 'reachable'],
    [500, FAILED, 'unreachable'],
    [503, FAILED, 'unreachable'],
    [529, FAILED, 'unreachable'],
  ])('%d in the model’s own form', async (status, detail, finding) => {
    const headers = { location: 'https://elsewhere.test/' }
    const { result } = await probe({
      scripts: [json(status, { error: { message: SAID } }, headers)],
    })
    expect(result).toEqual(
      finding === 'reachable'
        ? reachable(status, { detail })
        : unreachable(detail, { httpStatus: status }),
    )
  })

  test.each<[string, unknown]>([
    [
      'OpenAI, vLLM, llama.cpp, Ollama',
      { error: { message: SAID, type: 'BadRequestError', code: 400 } },
    ],
    ['Anthropic', { type: 'error', error: { type: 'invalid_request_error', message: SAID } }],
    ['vLLM for Messages', { type: 'error', error: { type: 'BadRequestError', message: SAID } }],
    ['an older vLLM', { object: 'error', message: SAID, type: 'BadRequestError', code: 400 }],
    ['FastAPI in words', { detail: SAID }],
    ['FastAPI in a list', { detail: [{ loc: ['body'], msg: SAID }] }],
  ])('400 as %s write it says that the model is there', async (_, body) => {
    expect((await probe({ scripts: [json(400, body)] })).result).toEqual(
      reachable(400, { detail: REFUSED }),
    )
  })

  test.each<[string, unknown]>([
    ['a page', `<html>${SAID}</html>`],
    ['nothing', ''],
    ['an empty object', {}],
    ['words', { error: SAID }],
    ['a message alone', { message: SAID }],
    ['a list', [SAID]],
    ['an object of another kind', { object: 'list', message: SAID }],
  ])('400 with %s comes from something else', async (_, body) => {
    for (const status of [400, 422, 429])
      expect((await probe({ scripts: [json(status, body)] })).result).toEqual(
        unreachable(otherFormat(status), { httpStatus: status }),
      )
  })
})

describe('an answer with 200 that is', () => {
  const html = { 'content-type': 'text/html; charset=utf-8' }
  test.each<[string, Script, string]>([
    [
      'a sign-in page',
      json(200, `<!doctype html>${SAID}`, html),
      'The server answered HTTP 200 with a web page, such as a sign-in page. Check baseUrl.',
    ],
    ['a page that calls itself JSON', json(200, `<!doctype html>${SAID}`), otherFormat(200)],
    ['an empty object', json(200, {}), otherFormat(200)],
    ['a list of answers', json(200, [ANSWERS['openai-responses']]), otherFormat(200)],
    ['null', json(200, 'null'), otherFormat(200)],
    [
      'no UTF-8',
      [head(200), piece(Buffer.from([...Buffer.from('{"output":[],"x":"'), 0xff, 0x22, 0x7d]))],
      otherFormat(200),
    ],
    ['nothing', json(200, ''), otherFormat(200)],
    [
      'an error',
      json(200, { error: { message: SAID } }),
      'The server reported an error with HTTP 200.',
    ],
    [
      'an error in words',
      json(200, { error: SAID }),
      'The server reported an error with HTTP 200.',
    ],
    ['another dialect’s answer', json(200, ANSWERS['anthropic-messages']), otherFormat(200)],
    [
      'plain text',
      json(200, ANSWERS['openai-responses'], { 'content-type': 'text/plain' }),
      otherFormat(200),
    ],
    [
      'an event stream',
      json(200, 'data: {}\n\n', { 'content-type': 'text/event-stream' }),
      otherFormat(200),
    ],
    [
      'encoded',
      json(200, ANSWERS['openai-responses'], { 'content-encoding': 'gzip' }),
      'The server compressed its answer although the request asked for accept-encoding: identity.',
    ],
    [
      'larger than any',
      [head(200), piece(Buffer.alloc(2 * 1024 * 1024, 32)), SILENCE],
      otherFormat(200),
    ],
  ])('%s is rejected', async (_, script, detail) => {
    expect((await probe({ scripts: [script] })).result).toEqual(
      unreachable(detail, { httpStatus: 200 }),
    )
  })

  test.each<[OwnedModelDialect]>([
    ['openai-chat'],
    ['openai-responses'],
    ['mistral-fim'],
    ['anthropic-messages'],
    ['openai-embeddings'],
  ])('in another dialect than %s is rejected', async (dialect) => {
    const foreign = Object.entries(ANSWERS).filter(
      ([id, answer]) => id !== dialect && !('choices' in answer && 'choices' in ANSWERS[dialect]),
    )
    for (const [, answer] of foreign) {
      const { result } = await probe({ dialect, scripts: [json(200, answer)] })
      expect(result).toEqual(unreachable(otherFormat(200), { httpStatus: 200 }))
    }
  })

  test('an answer with another success status is accepted, even without a content type', async () => {
    const bytes = piece(JSON.stringify(ANSWERS['openai-responses']))
    expect((await probe({ scripts: [[head(201), bytes]] })).result).toEqual(reachable(201))
    expect((await probe({ scripts: [[head(299), bytes]] })).result).toEqual(reachable(299))
    const plain = head(200, {
      'content-encoding': ' Identity ',
      'content-type': 'application/vnd.x+json',
    })
    expect((await probe({ scripts: [[plain, bytes]] })).result).toEqual(reachable(200))
  })
})

describe('a refusal', () => {
  const UNKNOWN_MODEL = 'The server does not know the model. Check upstreamModelId.'
  test.each([
    'The model `llama-7b` does not exist',
    'model "llama-7b" not found, try pulling it first',
    '{"error":{"code":"MODEL_NOT_FOUND"}}',
    '{"error":{"type":"not_found_error","message":"model: llama-7b"}}',
    '{"error":{"message":"/chat/completions: Invalid model name passed in model=llama-7b","code":"400"}}',
    '{"message":"modelnotfound"}',
    'Invalid model: llama-7b',
    'invalid_model',
    'Unknown model llama-7b',
    'There is no such model',
  ])('with "%s" means an unknown model', async (said) => {
    for (const status of [400, 404])
      expect((await probe({ scripts: [json(status, `${said} ${SAID}`)] })).result).toEqual(
        unreachable(UNKNOWN_MODEL, { httpStatus: status }),
      )
    // The message does not matter if the status is conclusive.
    const { result } = await probe({ scripts: [json(422, { error: { message: said } })] })
    expect(result.status).toBe('reachable')
  })

  test.each(['The path does not exist', 'The model is overloaded'])(
    'with "%s" does not count against the model’s name',
    async (message) => {
      const { result } = await probe({ scripts: [json(400, { error: { message } })] })
      expect(result.status).toBe('reachable')
    },
  )

  const LIMIT = 16 * 1024
  test('is searched for the model’s name in its first 16 KB, over all pieces', async () => {
    const refused = head(400, { 'content-type': 'text/plain' })
    const first = piece(`${'x'.repeat(LIMIT - 15)}model not foun`)
    const within = await probe({ scripts: [[refused, first, piece('d')]] })
    expect(within.result).toEqual(unreachable(UNKNOWN_MODEL, { httpStatus: 400 }))
    const half = piece('x'.repeat(LIMIT / 2))
    const beyond = await probe({ scripts: [[refused, half, half, piece('model not found')]] })
    expect(beyond.result).toEqual(unreachable(otherFormat(400), { httpStatus: 400 }))
  })

  test('is read for a megabyte at most', async () => {
    const large = piece('x'.repeat(600 * 1024))
    const { result, sent } = await probe({ scripts: [[head(400), large, large, large]] })
    expect(result.status).toBe('unreachable')
    expect(sent[0]).toMatchObject({ taken: 2, state: 'closed' })
  })

  test('that breaks off leads to no conclusion', async () => {
    const { result } = await probe({ scripts: [[head(404), piece('model not'), CUT]] })
    expect(result.status).toBe('unreachable')
    expect(result.httpStatus).toBeUndefined()
  })
})

describe('is out of reach', () => {
  const LATE = 'The server did not answer in time.'

  test('with a credential that cannot be opened, without any call', async () => {
    expect(await probe({ credential: 'unopened' })).toEqual({
      result: unreachable('The credential of the model cannot be decrypted.'),
      interim: [],
      sent: [],
    })
  })

  test('at a forbidden address, without any call, for a stated reason', async () => {
    const resolve = () => Promise.reject(new AddressRefusedError('It is private.'))
    expect(await probe({ resolve })).toEqual({
      result: unreachable('The address is not allowed: It is private.'),
      interim: [],
      sent: [],
    })
  })

  test('under a name that leads nowhere', async () => {
    const failure = new UpstreamFailure('connect_failed', 'The host name could not be resolved.')
    const { result, interim } = await probe({
      resolve: () => Promise.reject(failure),
      timeoutMs: 60_000,
    })
    expect(result).toEqual(unreachable('The host name could not be resolved.'))
    expect(interim).toEqual([])
  })

  test('for an internal reason, which stays hidden', async () => {
    const { result } = await probe({ resolve: () => Promise.reject(new Error(SAID)) })
    expect(result).toEqual(unreachable('The server could not be reached.'))
  })

  test.each(['connect_timeout', 'first_byte_timeout', 'idle_timeout', 'total_timeout'] as const)(
    'by %s, all in the same words',
    async (failure) => {
      const { result } = await probe({ scripts: [[{ type: 'fail', failure }]] })
      expect(result).toEqual(unreachable(LATE))
    },
  )

  test('after its whole time, which includes the look-up of its address', async () => {
    const slowly = async (_url: string, clock: ScriptedClock) => {
      await new Promise<void>((resolve) => clock.after(1_000, resolve))
      return plainly()
    }
    const silent = await probe({ scripts: [[SILENCE]], resolve: slowly })
    expect(silent.result).toMatchObject({ status: 'unreachable', detail: LATE })
    const all = { connectMs: 2_000, firstByteMs: 2_000, idleMs: 2_000, totalMs: 2_000 }
    expect(silent.sent[0]?.timeouts).toEqual(all)

    const { result } = await probe({ scripts: [[pause(1_900), ...ANSWER]], resolve: slowly })
    expect(result).toEqual({ ...reachable(200), latencyMs: 2_900 })

    // A server that sends without end is given up too.
    const dripping = await probe({
      scripts: [[head(400), piece('x'), pause(1_500), piece('x'), SILENCE]],
    })
    expect(dripping.result).toMatchObject({ status: 'unreachable', detail: LATE })
  })

  test('when the look-up of its address has taken the whole time', async () => {
    const resolve = async (_url: string, clock: ScriptedClock) => {
      await new Promise<void>((resolve) => clock.after(3_500, resolve))
      return plainly()
    }
    const { result, sent } = await probe({ scripts: [[SILENCE]], resolve })
    expect(sent[0]?.timeouts.totalMs).toBe(1)
    expect(result).toMatchObject({ status: 'unreachable', detail: LATE })
  })
})

describe('a cold model', () => {
  test('is waited for if it loads in silence, as with Ollama', async () => {
    const { result, interim } = await probe({
      scripts: [[pause(45_000), ...ANSWER]],
      timeoutMs: 60_000,
    })
    expect(result).toEqual({ ...reachable(200), latencyMs: 45_000 })
    expect(interim).toEqual([])
  })

  // llama.cpp, tools/server: `{"error": {"code": 503, "message": "Loading model", "type":
  // "unavailable_error"}}`.
  const LOADING = json(503, {
    error: { code: 503, message: 'Loading model', type: 'unavailable_error' },
  })
  const isLoading = (latencyMs: number): ProbeResult => ({
    status: 'loading',
    httpStatus: 503,
    detail: 'The server is loading the model.',
    latencyMs,
  })

  test('is probed again until it is loaded if its server says so, as llama.cpp does', async () => {
    const { result, interim } = await probe({
      scripts: [LOADING, LOADING, ANSWER],
      timeoutMs: 60_000,
    })
    expect(result).toEqual({ ...reachable(200), latencyMs: 2_000 })
    expect(interim).toEqual([isLoading(0), isLoading(1_000)])
  })

  test('is shown as loading if it is not ready in time', async () => {
    const { result } = await probe({ scripts: [LOADING, LOADING, LOADING] })
    expect(result).toEqual(isLoading(2_000))
  })

  test('is probed again too if its server takes no connection yet, as vLLM', async () => {
    const { result, interim } = await probe({
      scripts: [UNREACHABLE, UNREACHABLE, ANSWER],
      timeoutMs: 60_000,
    })
    expect(result).toEqual({ ...reachable(200), latencyMs: 2_000 })
    expect(interim.map(({ status }) => status)).toEqual(['unreachable', 'unreachable'])
  })

  test('does not excuse any other failure, which is reported at once', async () => {
    const { interim } = await probe({
      scripts: [json(503, { error: { message: 'no capacity' } })],
      timeoutMs: 60_000,
    })
    expect(interim).toEqual([])
  })
})

describe('the credential of a Messages server', () => {
  const dialect = 'anthropic-messages'
  const YES = json(200, ANSWERS[dialect])
  // vLLM's middleware, at every endpoint.
  const NO = json(401, { error: 'Unauthorized' })
  const placesOf = (sent: readonly { headers: Readonly<Record<string, string>> }[]) =>
    sent.map(({ headers }) => [headers['x-api-key'], headers.authorization])
  const [AS_KEY, AS_BEARER] = [
    [KEY, undefined],
    [undefined, `Bearer ${KEY}`],
  ]

  test('goes into Anthropic’s header, and into no other if that is accepted', async () => {
    const { result, sent } = await probe({ dialect, scripts: [YES, NO_SUCH_PATH] })
    expect(result.found).toEqual({ credentialHeader: 'x-api-key', countTokens: false })
    expect(placesOf(sent)).toEqual([AS_KEY, AS_KEY])
  })

  test('goes into the other header if the first is refused, as by vLLM, and for later probes too', async () => {
    const { result, sent } = await probe({
      dialect,
      scripts: [NO, YES, json(200, { input_tokens: 9 })],
    })
    expect(result).toEqual(
      reachable(200, { found: { credentialHeader: 'authorization', countTokens: true } }),
    )
    expect(placesOf(sent)).toEqual([AS_KEY, AS_BEARER, AS_BEARER])
  })

  test('is tried first in the header that accepted it last time', async () => {
    const found = { credentialHeader: 'authorization' } as const
    const { sent } = await probe({ dialect, found, scripts: [NO, YES, NO_SUCH_PATH] })
    expect(placesOf(sent)).toEqual([AS_BEARER, AS_KEY, AS_KEY])
  })

  test('has an accepted header if the other one is refused, whatever else fails', async () => {
    const { result } = await probe({
      dialect,
      scripts: [NO, json(404, { error: { message: 'no model found' } })],
    })
    expect(result).toMatchObject({
      status: 'unreachable',
      found: { credentialHeader: 'authorization' },
    })
    // An address without a server refuses no header either.
    expect((await probe({ dialect, scripts: [NO_SUCH_PATH] })).result.found).toBeUndefined()
  })

  test('is refused if neither header is accepted', async () => {
    const { result } = await probe({ dialect, scripts: [NO, json(403, {})] })
    expect(result).toEqual(unreachable(KEY_REFUSED, { httpStatus: 403 }))
  })

  test.each([
    ['authorization', AS_BEARER],
    ['x-api-key', AS_KEY],
  ] as const)('goes into %s alone if the registration says so', async (credentialHeader, place) => {
    const { result, sent } = await probe({ dialect, credentialHeader, scripts: [NO] })
    expect(result).toEqual(unreachable(KEY_REFUSED, { httpStatus: 401 }))
    expect(placesOf(sent)).toEqual([place])
  })

  test('is not tried in another header in another dialect', async () => {
    const { sent } = await probe({ scripts: [NO] })
    expect(placesOf(sent)).toEqual([AS_BEARER])
  })
})

describe('a further ability of the server is', () => {
  const dialect = 'openai-chat'
  const YES = json(200, ANSWERS[dialect])
  test.each<[string, Script, boolean | undefined]>([
    ['there', json(200, ANSWERS['openai-embeddings']), true],
    ['something else', json(200, YES), false],
    // vLLM with a model for chat.
    [
      'not for this model',
      json(400, { error: { message: 'The model does not support Embeddings API' } }),
      false,
    ],
    // llama.cpp without --embeddings.
    [
      'not started',
      json(501, { error: { code: 501, type: 'not_supported_error', message: SAID } }),
      false,
    ],
    ['nowhere', NO_SUCH_PATH, false],
    ['not to be told from a used-up limit', json(429, { error: { message: SAID } }), undefined],
    ['not to be told from a failure', json(500, { error: { message: SAID } }), undefined],
    ['not to be told from silence', [SILENCE], undefined],
  ])('%s', async (_, script, embeddings) => {
    const { result } = await probe({ dialect, scripts: [YES, script] })
    expect(result.status).toBe('reachable')
    expect(result.found).toEqual(embeddings === undefined ? undefined : { embeddings })
  })
})

test.each<[string, Upstream['open'] | undefined, ProbeResult | undefined]>([
  ['a gateway that ends finds nothing out', undefined, undefined],
  [
    'a fault of our own is a result too, and not told',
    () => {
      throw new Error(SAID)
    },
    unreachable('The server could not be reached.'),
  ],
])('%s', async (_, open, wanted) => {
  const clock = new ScriptedClock()
  const ending: Script = [{ type: 'fail', failure: 'shutdown' }]
  const upstream =
    open === undefined ? new ScriptedUpstream(clock, new Deadlines(clock), [ending]) : { open }
  const owned = toOwnedUpstream({ dialect: 'openai-chat', slug: 's' } as OwnedModel, {
    secret: new Secret(KEY),
    owner: 'account',
  })
  const ports = { clock, upstream, addresses: { resolve: plainly } }
  const model = { dialect: 'openai-chat', credentialHeader: 'auto' } as OwnedModel
  const { signal } = new AbortController()
  const result = await probeOwnedModel(ports, model, owned, { timeoutMs: 60_000, signal })
  expect<unknown>(result).toEqual(wanted)
})

test('a cancelled probe ends at once, whatever it waits for, and finds nothing', async () => {
  for (const script of [[SILENCE], UNREACHABLE] as const) {
    const clock = new ScriptedClock()
    const upstream = new ScriptedUpstream(clock, new Deadlines(clock), [script])
    const owned = toOwnedUpstream({ dialect: 'openai-chat', slug: 's' } as OwnedModel, {
      secret: new Secret(KEY),
      owner: 'account',
    })
    const calledOff = new AbortController()
    const ports = { clock, upstream, addresses: { resolve: plainly } }
    const model = { dialect: 'openai-chat', credentialHeader: 'auto' } as OwnedModel
    const options = { timeoutMs: 60_000, signal: calledOff.signal }
    const probing = probeOwnedModel(ports, model, owned, options)
    await clock.idle()
    calledOff.abort()
    expect(await probing).toBeUndefined()
    expect(clock.passedMs).toBe(0)
    // The sweep of deadlines ends when no deadline is left.
    await clock.advance(50)
    expect(clock.pending).toBe(0)
  }
})
