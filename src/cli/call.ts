/**
 * `gatehouse call GATE "prompt"`: calls a gate from the terminal, showing the answer as it arrives.
 */
import { type Command, Option } from 'commander'
import { createParser } from 'eventsource-parser'
import type { Schemas } from '../contract/api.generated.ts'
import { isAccessToken } from '../core/access-token.ts'
import { dialectAt } from '../core/dialects.ts'
import { CliError } from './cli-error.ts'
import { type Client, type JsonObject, notAGateway, readJsonObject, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { targetsOf } from './gates/show-gate.ts'
import { readStandardInput } from './input.ts'
import { printJson, printNote, toPrintable } from './output.ts'
import { asJson, example, parseWhole } from './program-parts.ts'
import { idOf } from './resource-verbs.ts'
import { terminal } from './terminal.ts'

interface CallFlags {
  readonly endpoint?: string
  readonly system?: string
  readonly suffix?: string
  readonly maxTokens?: number
  readonly stream: boolean
}

const FIM = 'fim'
const CHAT = 'chat'

export function bindCall(program: Command, context: CliContext): void {
  program
    .command('call')
    .argument('<gate>', idOf('gate'))
    .argument('<prompt>', "prompt for the model; '-': read it from standard input")
    .description('try a gate: the answer on standard output, tokens and time on standard error')
    .addOption(
      new Option(
        '--endpoint <name>',
        'endpoint to call (the first that the gate supports; with an access token: chat, or fim with --suffix)',
      ).choices(Object.keys(CALL_ENDPOINTS)),
    )
    .option('--system <text>', 'system prompt')
    .option('--suffix <text>', 'code after the cursor (fill in the middle)')
    .option('--max-tokens <n>', 'cap on output tokens', (text) =>
      parseWhole(text, { min: 1, max: 10_000_000 }),
    )
    .option('--no-stream', 'wait for the whole answer')
    .addHelpText(
      'after',
      example(
        'gatehouse call demo "Hello, gateway"',
        'git diff | gatehouse call assistant - --system "Review this"',
      ),
    )
    .action(async (gate: string, promptText: string, flags: CallFlags, command: Command) => {
      const { endpoint: named, system, suffix, maxTokens } = flags
      const isJson = asJson(command)
      if (suffix !== undefined && named !== undefined && named !== FIM)
        throw new CliError('usage', `--suffix is for --endpoint ${FIM} only.`)
      if (system !== undefined && (named === FIM || suffix !== undefined))
        throw new CliError('usage', 'Fill-in-the-middle does not support --system.')
      const prompt = promptText === '-' ? await readStandardInput() : promptText
      if (prompt === '') throw new CliError('usage', 'The prompt is empty.')
      const question: CallQuestion = {
        gate,
        prompt,
        system,
        suffix,
        maxTokens,
        stream: flags.stream && !isJson,
      }
      // An access token cannot read gates, and chat reaches targets of every format.
      const isToken = isAccessToken(context.environment.GATEHOUSE_API_KEY?.trim() ?? '')
      const forToken = suffix === undefined ? CHAT : FIM
      const known = named ?? (isToken ? forToken : undefined)
      await withClient(context, async (client) => {
        const endpoint =
          (known === undefined ? undefined : CALL_ENDPOINTS[known]) ??
          (await findEndpoint(client, question))
        await callGate(client, endpoint, question, isJson)
      })
    })
}

/**
 * Selects the endpoint in the format of the gate's first target, so that the call tries this target
 * first too; otherwise an endpoint of another target; otherwise chat, which the gateway translates.
 * A suffix needs fill-in-the-middle.
 */
async function findEndpoint(client: Client, question: CallQuestion): Promise<CallEndpoint> {
  const gate = await client.call('GET /v1/gates/{id}', 'id', { path: { id: question.gate } })
  const providers = (await client.call('GET /v1/providers', 'data')).data
  const fitting = Object.keys(CALL_ENDPOINTS).filter(
    (name) => name !== FIM || question.system === undefined,
  )
  const order = question.suffix === undefined ? fitting : [FIM]
  for (const target of targetsOf(gate)) {
    const dialects = await dialectsOf(client, target, providers)
    const endpoint = order
      .map((name) => CALL_ENDPOINTS[name])
      .find(
        (candidate) =>
          candidate !== undefined && dialects.includes(dialectAt(candidate.path) ?? ''),
      )
    if (endpoint !== undefined) return endpoint
  }
  const translated = question.suffix === undefined ? CALL_ENDPOINTS[CHAT] : undefined
  if (translated !== undefined) return translated
  throw new CliError(
    'failed',
    `No target of the gate '${question.gate}' uses a format that fits this call.`,
  )
}

async function dialectsOf(
  client: Client,
  target: string,
  providers: readonly Schemas['Provider'][],
): Promise<readonly string[]> {
  const [prefix, slug = ''] = target.split('/')
  if (prefix === 'owned')
    return [(await client.call('GET /v1/owned-models/{slug}', 'slug', { path: { slug } })).dialect]
  return providers.find((candidate) => candidate.id === prefix)?.dialects ?? []
}

async function callGate(
  client: Client,
  endpoint: CallEndpoint,
  question: CallQuestion,
  isJson: boolean,
): Promise<void> {
  const startedAt = performance.now()
  const interruption = new AbortController()
  const at = terminal()
  const interruptWith = (exitCode: number) => () => {
    at.exitCode = exitCode
    interruption.abort()
  }
  // Ends the call and not the process, so that the call's row in the log shows its outcome.
  const signals = { SIGINT: interruptWith(130), SIGTERM: interruptWith(143) }
  for (const [signal, interrupt] of Object.entries(signals)) process.once(signal, interrupt)
  at.onReaderGone(interruptWith(141))
  try {
    const response = await endpoint.ask(client, interruption.signal, question)
    const usage = question.stream
      ? await showStream(response, endpoint)
      : await showAnswer(response, endpoint, isJson)
    if (!isJson && !interruption.signal.aborted)
      printNote(summary(response, usage, performance.now() - startedAt))
  } catch (error) {
    if (!interruption.signal.aborted) throw error
  } finally {
    for (const [signal, interrupt] of Object.entries(signals)) process.off(signal, interrupt)
  }
}

async function showAnswer(
  response: Response,
  endpoint: CallEndpoint,
  isJson: boolean,
): Promise<CallUsage | undefined> {
  const answer = await readJsonObject(response)
  if (answer === undefined) throw notAGateway(response)
  if (isJson) printJson(answer)
  else terminal().output.write(`${toShown(endpoint.readText(answer))}\n`)
  return endpoint.readUsage(answer)
}

/** @throws CliError when the stream reports a failure, breaks, or ends before it is complete */
async function showStream(
  response: Response,
  endpoint: CallEndpoint,
): Promise<CallUsage | undefined> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    throw notAGateway(response)
  let usage: CallUsage | undefined
  let failure: string | undefined
  let isWhole = false
  let shown = ''
  try {
    for await (const data of readEventData(response)) {
      if (data === '[DONE]') {
        isWhole = true
        continue
      }
      const event = JSON.parse(data) as JsonObject
      failure ??= endpoint.readFailure(event)
      isWhole ||= endpoint.isEnd(event)
      usage = endpoint.readUsage(event) ?? usage
      const delta = toShown(endpoint.readDelta(event))
      if (delta === '') continue
      terminal().output.write(delta)
      shown = delta
    }
  } catch (cause) {
    throw new CliError(
      'failed',
      failure ??
        `The answer ended before it was complete: ${cause instanceof Error ? cause.message : cause}`,
    )
  } finally {
    if (!shown.endsWith('\n')) terminal().output.write('\n')
  }
  if (failure !== undefined) throw new CliError('failed', failure)
  if (!isWhole) throw new CliError('failed', 'The answer ended before it was complete.')
  return usage
}

/** A model's text must not control the terminal; a file or a pipe gets the text unchanged. */
function toShown(text: string): string {
  return terminal().output.isTerminal ? toPrintable(text) : text
}

function summary(response: Response, usage: CallUsage | undefined, durationMs: number): string {
  const tokens =
    usage === undefined
      ? 'tokens not reported'
      : `${usage.inputTokens} tokens in, ${usage.outputTokens} out`
  // The headers of a stream that started before its target answered cannot name the target.
  const target = response.headers.get('x-gatehouse-target') ?? 'target: see gatehouse logs'
  return `${target} · ${tokens} · ${(durationMs / 1000).toFixed(2)} s`
}

const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024

async function* readEventData(response: Response): AsyncGenerator<string> {
  if (response.body === null) return
  const events: string[] = []
  // The parser throws when an event exceeds the limit.
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: ({ data }) => events.push(data),
  })
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    parser.feed(text)
    yield* events.splice(0).filter((data) => data !== '')
  }
}

interface CallQuestion {
  readonly gate: string
  readonly prompt: string
  readonly system: string | undefined
  readonly suffix: string | undefined
  readonly maxTokens: number | undefined
  readonly stream: boolean
}

interface CallUsage {
  readonly inputTokens: number
  readonly outputTokens: number
}

interface CallEndpoint {
  readonly path: string
  ask(client: Client, signal: AbortSignal, question: CallQuestion): Promise<Response>
  readText(answer: Json): string
  readDelta(event: Json): string
  readFailure(event: Json): string | undefined
  /** Whether the event marks the end of the stream, which can also break off without any sign. */
  isEnd(event: Json): boolean
  readUsage(answerOrEvent: Json): CallUsage | undefined
}

type Json = Readonly<Record<string, unknown>>

const chatShaped = {
  readText: (answer: Json) => text(at(answer, 'choices', 0, 'message', 'content')),
  readDelta: (event: Json) => text(at(event, 'choices', 0, 'delta', 'content')),
  readFailure: (event: Json) => (event.error === undefined ? undefined : errorMessage(event.error)),
  isEnd: (event: Json) => typeof at(event, 'choices', 0, 'finish_reason') === 'string',
  readUsage: (answer: Json) => usage(answer.usage, 'prompt_tokens', 'completion_tokens'),
}

/** In the order of trial when the user selects no endpoint. */
const CALL_ENDPOINTS: Readonly<Record<string, CallEndpoint>> = {
  responses: {
    path: '/v1/responses',
    ask: (client, signal, { gate, prompt, system, maxTokens, stream }) =>
      client.open('POST /v1/responses', signal, {
        body: {
          model: gate,
          input: prompt,
          instructions: system,
          max_output_tokens: maxTokens,
          stream,
        },
      }),
    readText: (answer) =>
      list(answer.output)
        .flatMap((item) => list(at(item, 'content')))
        .map((part) => text(at(part, 'text')))
        .join(''),
    readDelta: (event) => (event.type === 'response.output_text.delta' ? text(event.delta) : ''),
    readFailure: (event) => {
      if (event.type === 'error') return errorMessage(event.error ?? event)
      return event.type === 'response.failed'
        ? errorMessage(at(event, 'response', 'error'))
        : undefined
    },
    isEnd: (event) => event.type === 'response.completed' || event.type === 'response.incomplete',
    readUsage: (answer) =>
      usage(at(answer, 'response', 'usage') ?? answer.usage, 'input_tokens', 'output_tokens'),
  },
  chat: {
    path: '/v1/chat/completions',
    ask: (client, signal, { maxTokens, stream, ...question }) =>
      client.open('POST /v1/chat/completions', signal, {
        body: {
          ...chatBody(question),
          max_completion_tokens: maxTokens,
          stream,
          stream_options: stream ? { include_usage: true } : undefined,
        },
      }),
    ...chatShaped,
  },
  'mistral-chat': {
    path: '/alt/v1/chat/completions',
    ask: (client, signal, { maxTokens, stream, ...question }) =>
      client.open('POST /alt/v1/chat/completions', signal, {
        body: { ...chatBody(question), max_tokens: maxTokens, stream },
      }),
    ...chatShaped,
  },
  fim: {
    path: '/alt/v1/fim/completions',
    ask: (client, signal, { gate, prompt, suffix, maxTokens, stream }) =>
      client.open('POST /alt/v1/fim/completions', signal, {
        body: { model: gate, prompt, suffix, max_tokens: maxTokens, stream },
      }),
    ...chatShaped,
  },
}

function chatBody({ gate, prompt, system }: Pick<CallQuestion, 'gate' | 'prompt' | 'system'>) {
  const user = { role: 'user', content: prompt }
  return {
    model: gate,
    messages: system === undefined ? [user] : [{ role: 'system', content: system }, user],
  }
}

function usage(reported: unknown, input: string, output: string): CallUsage | undefined {
  const inputTokens = at(reported, input)
  const outputTokens = at(reported, output)
  return typeof inputTokens === 'number' && typeof outputTokens === 'number'
    ? { inputTokens, outputTokens }
    : undefined
}

function errorMessage(error: unknown): string {
  return text(at(error, 'message')) || JSON.stringify(error)
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found: unknown = value
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Record<string | number, unknown>)[key]
  }
  return found
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
