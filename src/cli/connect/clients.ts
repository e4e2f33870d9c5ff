/**
 * The clients that `gatehouse connect` configures: the file of each, its text with the gateway in
 * it, and the call that tries it. Pure: reads and writes no file.
 */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CliError } from '../cli-error.ts'

export interface Connection {
  /** The gateway's address, without `/v1`. */
  readonly base: string
  readonly gate: string
  readonly smallGate: string
  /** The file with the token. */
  readonly tokenFile: string
}

type Environment = Readonly<Record<string, string | undefined>>

interface TestCall {
  readonly operation: string
  /** A member of every answer. */
  readonly member: string
  readonly body: object
}

export interface ConnectedClient {
  readonly title: string
  readonly file: (environment: Environment) => string
  /** @throws CliError when the text cannot be changed without a loss */
  readonly write: (text: string, connection: Connection, file: string) => string
  readonly testCall: (gate: string) => TestCall
  /** What a person starts next. */
  readonly start: string
}

const HELLO = 'Reply with the word ready.'
const MAX_TOKENS = 64

export function homeOf({ HOME }: Environment): string {
  return HOME || homedir()
}

export function configFolderOf(environment: Environment): string {
  return environment.XDG_CONFIG_HOME || join(homeOf(environment), '.config')
}

export const chatCall = (gate: string): TestCall => ({
  operation: 'POST /v1/chat/completions',
  member: 'choices',
  body: {
    model: gate,
    max_completion_tokens: MAX_TOKENS,
    messages: [{ role: 'user', content: HELLO }],
  },
})

export const CLIENTS = {
  'claude-code': {
    title: 'Claude Code',
    file: (environment) =>
      join(environment.CLAUDE_CONFIG_DIR || join(homeOf(environment), '.claude'), 'settings.json'),
    write: writeClaudeCode,
    testCall: (gate) => ({
      operation: 'POST /v1/messages',
      member: 'content',
      body: {
        model: gate,
        max_tokens: MAX_TOKENS,
        messages: [{ role: 'user', content: HELLO }],
      },
    }),
    start: 'claude',
  },
  codex: {
    title: 'Codex',
    file: (environment) =>
      join(environment.CODEX_HOME || join(homeOf(environment), '.codex'), 'config.toml'),
    write: writeCodex,
    testCall: (gate) => ({
      operation: 'POST /v1/responses',
      member: 'output',
      // Codex asks for it in every call, and some models refuse it.
      body: { model: gate, input: HELLO, store: false, include: ['reasoning.encrypted_content'] },
    }),
    start: 'codex',
  },
  opencode: {
    title: 'opencode',
    file: (environment) => join(configFolderOf(environment), 'opencode', 'opencode.json'),
    write: writeOpencode,
    testCall: chatCall,
    start: 'opencode',
  },
} satisfies Record<string, ConnectedClient>

/** They would take precedence over the token, or lead past the gateway. */
const CLAUDE_CODE_CONFLICTS: ReadonlySet<string> = new Set([
  'ANTHROPIC_API_KEY', // provider-name-ok: a variable of Claude Code
  'ANTHROPIC_AUTH_TOKEN', // provider-name-ok: a variable of Claude Code
  'CLAUDE_CODE_USE_BEDROCK', // provider-name-ok: a variable of Claude Code
  'CLAUDE_CODE_USE_VERTEX', // provider-name-ok: a variable of Claude Code
])

function writeClaudeCode(text: string, connection: Connection, file: string): string {
  const settings = parseJson(text, file)
  const env = Object.entries(membersOf(settings, 'env', file)).filter(
    ([name]) => !CLAUDE_CODE_CONFLICTS.has(name),
  )
  return toJson(text, {
    ...settings,
    apiKeyHelper: printToken(connection),
    env: {
      ...Object.fromEntries(env),
      ANTHROPIC_BASE_URL: connection.base, // provider-name-ok: a variable of Claude Code
      ANTHROPIC_MODEL: connection.gate, // provider-name-ok: a variable of Claude Code
      // provider-name-ok: a variable of Claude Code
      ANTHROPIC_DEFAULT_HAIKU_MODEL: connection.smallGate,
    },
  })
}

function writeOpencode(text: string, connection: Connection, file: string): string {
  const settings = parseJson(text, file)
  const providers = membersOf(settings, 'provider', file)
  if (Object.hasOwn(providers, 'gatehouse')) throw providerExists(file)
  const { base, gate, smallGate, tokenFile } = connection
  return toJson(text, {
    $schema: 'https://opencode.ai/config.json',
    ...settings,
    provider: {
      ...providers,
      gatehouse: {
        npm: '@ai-sdk/openai-compatible', // provider-name-ok: a package of opencode's
        name: 'Gatehouse',
        options: { baseURL: `${base}/v1`, apiKey: `{file:${tokenFile}}` },
        models: { [gate]: { name: gate }, [smallGate]: { name: smallGate } },
      },
    },
    model: `gatehouse/${gate}`,
    small_model: `gatehouse/${smallGate}`,
  })
}

const TABLE = /^\s*\[/
const REPLACED = /^\s*(?:model|model_provider)\s*=/

/** Comments and everything else stay: only whole lines are added or removed. */
function writeCodex(text: string, { base, gate, tokenFile }: Connection, file: string): string {
  const before = parseToml(text, file)
  if (Object.hasOwn(membersOf(before, 'model_providers', file), 'gatehouse'))
    throw providerExists(file)
  if (Object.hasOwn(before, 'profile'))
    throw new CliError(
      'conflict',
      `${file} selects a profile, which may choose another model: remove the line 'profile' first. ` +
        'Nothing was written.',
    )
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const firstTable = lines.findIndex((line) => TABLE.test(line))
  const end = firstTable === -1 ? lines.length : firstTable
  const settings = lines.slice(0, end).filter((line) => !REPLACED.test(line))
  const provider = {
    name: 'Gatehouse',
    base_url: `${base}/v1`,
    wire_api: 'responses',
    auth: { command: 'cat', args: [tokenFile] },
  }
  const after = [
    `model = ${JSON.stringify(gate)}`,
    'model_provider = "gatehouse"',
    ...settings,
    ...lines.slice(end),
    '',
    '[model_providers.gatehouse]',
    `name = ${JSON.stringify(provider.name)}`,
    `base_url = ${JSON.stringify(provider.base_url)}`,
    `wire_api = ${JSON.stringify(provider.wire_api)}`,
    '',
    '[model_providers.gatehouse.auth]',
    `command = ${JSON.stringify(provider.auth.command)}`,
    `args = [${JSON.stringify(tokenFile)}]`,
    '',
  ].join('\n')
  const expected = {
    ...before,
    model: gate,
    model_provider: 'gatehouse',
    model_providers: { ...membersOf(before, 'model_providers', file), gatehouse: provider },
  }
  // A line inside of a text over several lines looks like a setting.
  if (!isToml(after, expected))
    throw new CliError(
      'failed',
      `${file} cannot be changed without losing something: nothing was written. Add the provider ` +
        'by hand, as docs/guides/clients.md shows.',
    )
  return after
}

/** For a shell. */
export function printToken({ tokenFile }: Pick<Connection, 'tokenFile'>): string {
  return `cat '${tokenFile.replaceAll("'", `'\\''`)}'`
}

type Members = Readonly<Record<string, unknown>>

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseJson(text: string, file: string): Members {
  try {
    const settings: unknown = text.trim() === '' ? {} : JSON.parse(text)
    if (isMembers(settings)) return settings
  } catch {
    // The same refusal as for an array.
  }
  throw new CliError(
    'failed',
    `${file} is not a plain JSON object (comments would be lost): nothing was written.`,
  )
}

function parseToml(text: string, file: string): Members {
  try {
    return Bun.TOML.parse(text) as Members
  } catch (error) {
    throw new CliError('failed', `${file} is not valid TOML: nothing was written. (${error})`)
  }
}

function isToml(text: string, expected: Members): boolean {
  try {
    return Bun.deepEquals(Bun.TOML.parse(text), expected)
  } catch {
    return false
  }
}

function membersOf(settings: Members, name: string, file: string): Members {
  const found = settings[name] ?? {}
  if (isMembers(found)) return found
  throw new CliError('failed', `'${name}' in ${file} is not an object: nothing was written.`)
}

function providerExists(file: string): CliError {
  return new CliError(
    'conflict',
    `${file} has a provider 'gatehouse' already, which gatehouse connect did not write: rename or ` +
      'remove it first. Nothing was written.',
  )
}

function toJson(before: string, settings: Members): string {
  const indent = /^([ \t]+)"/m.exec(before)?.[1] ?? '  '
  return `${JSON.stringify(settings, null, indent)}\n`
}
