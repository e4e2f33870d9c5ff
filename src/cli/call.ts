/** `gatehouse call GATE "prompt"`: tries a gate from the terminal, showing the answer as it arrives. */
import { type Command, Option } from 'commander'
import { CALL_ENDPOINTS, type CallEndpoint, type CallQuestion, type CallUsage } from './call-endpoints.ts'
import { CliError } from './cli-error.ts'
import { type Client, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { targetsOf } from './gates.ts'
import { readStandardInput } from './input.ts'
import { printJson, printNote } from './output.ts'
import { asJson, example, parseWhole } from './program-parts.ts'
import { readEventData } from './read-event-data.ts'

interface CallFlags {
  readonly endpoint?: string
  readonly system?: string
  readonly suffix?: string
  readonly maxTokens?: number
  readonly stream: boolean
}

export function bindCall(program: Command, context: CliContext): void {
  program
    .command('call <gate> <prompt>')
    .description(
      "try a gate: the answer on standard output, tokens and time on standard error; '-' reads the prompt",
    )
    .addOption(
      new Option('--endpoint <name>', 'which endpoint to call (the first that the gate can answer)').choices(
        Object.keys(CALL_ENDPOINTS),
      ),
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
      const prompt = promptText === '-' ? await readStandardInput() : promptText
      const question: CallQuestion = {
        gate,
        prompt,
        system,
        suffix,
        maxTokens,
        stream: flags.stream && !isJson,
      }
      await withClient(context, async (client) => {
        const endpoint =
          (named === undefined ? undefined : CALL_ENDPOINTS[named]) ?? (await findEndpoint(client, question))
        await callGate(client, endpoint, question, isJson)
      })
    })
}

/** The first endpoint whose format one of the gate's providers speaks; with a suffix only fill-in-the-middle will do. */
async function findEndpoint(client: Client, question: CallQuestion): Promise<CallEndpoint> {
  const gate = await client.json(`/v1/gates/${encodeURIComponent(question.gate)}`)
  const providers = (await client.json('/v1/providers')).data as readonly Readonly<Record<string, unknown>>[]
  const dialects = new Set<unknown>()
  for (const target of targetsOf(gate)) {
    const provider = providers.find((candidate) => target.startsWith(`${candidate.id}/`))
    for (const dialect of (provider?.dialects as string[] | undefined) ?? []) dialects.add(dialect)
  }
  const order = question.suffix === undefined ? Object.keys(CALL_ENDPOINTS) : ['fim']
  const endpoint = order
    .map((name) => CALL_ENDPOINTS[name])
    .find((candidate) => candidate !== undefined && dialects.has(candidate.dialect))
  if (endpoint === undefined) {
    throw new CliError(
      'failed',
      `No target of the gate '${question.gate}' speaks a format that fits this call.`,
    )
  }
  return endpoint
}

async function callGate(
  client: Client,
  endpoint: CallEndpoint,
  question: CallQuestion,
  isJson: boolean,
): Promise<void> {
  const startedAt = performance.now()
  const interruption = new AbortController()
  const interrupt = () => {
    interruption.abort()
    process.exitCode = 130
  }
  process.once('SIGINT', interrupt)
  try {
    const response = await client.request(endpoint.path, {
      method: 'POST',
      body: endpoint.body(question),
      signal: interruption.signal,
    })
    const usage = question.stream
      ? await showStream(response, endpoint)
      : showAnswer((await response.json()) as Record<string, unknown>, endpoint, isJson)
    if (!isJson) printNote(summary(response, usage, performance.now() - startedAt))
  } catch (error) {
    if (!interruption.signal.aborted) throw error
  } finally {
    process.off('SIGINT', interrupt)
  }
}

function showAnswer(
  answer: Record<string, unknown>,
  endpoint: CallEndpoint,
  isJson: boolean,
): CallUsage | undefined {
  if (isJson) printJson(answer)
  else process.stdout.write(`${endpoint.readText(answer)}\n`)
  return endpoint.readUsage(answer)
}

/** @throws CliError when the stream says that it failed, or breaks */
async function showStream(response: Response, endpoint: CallEndpoint): Promise<CallUsage | undefined> {
  let usage: CallUsage | undefined
  let failure: string | undefined
  try {
    for await (const data of readEventData(response)) {
      if (data === '[DONE]') continue
      const event = JSON.parse(data) as Record<string, unknown>
      failure ??= endpoint.readFailure(event)
      usage = endpoint.readUsage(event) ?? usage
      process.stdout.write(endpoint.readDelta(event))
    }
  } catch (cause) {
    throw new CliError(
      'failed',
      failure ?? `The answer broke off: ${cause instanceof Error ? cause.message : cause}`,
    )
  } finally {
    process.stdout.write('\n')
  }
  if (failure !== undefined) throw new CliError('failed', failure)
  return usage
}

function summary(response: Response, usage: CallUsage | undefined, durationMs: number): string {
  const tokens =
    usage === undefined ? 'tokens not reported' : `${usage.inputTokens} tokens in, ${usage.outputTokens} out`
  return `${response.headers.get('x-gatehouse-target')} · ${tokens} · ${(durationMs / 1000).toFixed(2)} s`
}
