/**
 * The clients that `gatehouse connect` configures: the file of each client, the file's text with
 * the gateway's settings, and the call that tries the connection.
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CliError } from '../cli-error.ts'
import { catalogFileOf, createCatalog } from './codex-catalog.ts'
import { restoreCodex, writeCodex } from './codex-settings.ts'
import type {
  ConnectedClient,
  Connection,
  Environment,
  GateLimits,
  TestCall,
} from './connected-client.ts'
import { backupOf } from './connected-files.ts'
import { editJson, type JsonEdit, type Members, memberAt, parseJson } from './json-settings.ts'

export function configFolderOf(environment: Environment): string {
  return environment.XDG_CONFIG_HOME || join(homeOf(environment), '.config')
}

const HELLO = 'Reply with the word ready.'
const MAX_TOKENS = 64

function chatCall(gate: string): TestCall {
  return {
    operation: 'POST /v1/chat/completions',
    member: 'choices',
    body: {
      model: gate,
      max_completion_tokens: MAX_TOKENS,
      messages: [{ role: 'user', content: HELLO }],
    },
  }
}

interface JsonSetting {
  readonly path: readonly string[]
  /** @param present the member's value before */
  readonly toValue: (connection: Connection, present: unknown) => unknown
  /**
   * Whether a member of this name belongs to the user, unless gatehouse connect wrote the member.
   */
  readonly isOwn?: boolean
}

const inEnv = (name: string, toValue: JsonSetting['toValue']) => ({ path: ['env', name], toValue })
const absent = () => undefined
const gateOf = ({ gate }: Connection) => gate

const CLAUDE_CODE: readonly JsonSetting[] = [
  { path: ['apiKeyHelper'], toValue: ({ tokenFile }) => printToken(tokenFile) },
  inEnv('ANTHROPIC_BASE_URL', ({ base }) => base), // provider-name-ok: a variable
  inEnv('ANTHROPIC_MODEL', gateOf), // provider-name-ok: a variable
  // Claude Code assumes a window of a million tokens for a model that it does not know.
  inEnv('CLAUDE_CODE_MAX_CONTEXT_TOKENS', ({ limits, gate }, present) => {
    const context = limits[gate]?.context
    return context === undefined ? present : String(context)
  }),
  // The aliases `opus`, `sonnet` and `haiku` stand for models that a gate may lack.
  inEnv('ANTHROPIC_DEFAULT_OPUS_MODEL', gateOf), // provider-name-ok: a variable
  inEnv('ANTHROPIC_DEFAULT_SONNET_MODEL', gateOf), // provider-name-ok: a variable
  inEnv('ANTHROPIC_DEFAULT_HAIKU_MODEL', ({ smallGate }) => smallGate), // provider-name-ok: a variable
  // These variables would take precedence, or lead past the gateway.
  inEnv('ANTHROPIC_SMALL_FAST_MODEL', absent), // provider-name-ok: a variable
  inEnv('ANTHROPIC_API_KEY', absent), // provider-name-ok: a variable
  inEnv('ANTHROPIC_AUTH_TOKEN', absent), // provider-name-ok: a variable
  inEnv('CLAUDE_CODE_USE_BEDROCK', absent), // provider-name-ok: a variable
  inEnv('CLAUDE_CODE_USE_VERTEX', absent), // provider-name-ok: a variable
]

const OPENCODE: readonly JsonSetting[] = [
  { path: ['$schema'], toValue: () => 'https://opencode.ai/config.json' },
  {
    path: ['provider', 'gatehouse'],
    isOwn: true,
    toValue: ({ base, gate, smallGate, limits, tokenFile }) => ({
      npm: '@ai-sdk/openai-compatible', // provider-name-ok: a package of opencode's
      name: 'Gatehouse',
      options: { baseURL: `${base}/v1`, apiKey: `{file:${tokenFile}}` },
      models: Object.fromEntries(
        [gate, smallGate].map((name) => [name, { name, ...opencodeLimit(limits[name]) }]),
      ),
    }),
  },
  { path: ['model'], toValue: ({ gate }) => `gatehouse/${gate}` },
  { path: ['small_model'], toValue: ({ smallGate }) => `gatehouse/${smallGate}` },
]

export const CLIENTS = {
  'claude-code': {
    title: 'Claude Code',
    file: (environment) =>
      join(environment.CLAUDE_CONFIG_DIR || join(homeOf(environment), '.claude'), 'settings.json'),
    hasSmallGate: true,
    precedence: ['ANTHROPIC_AUTH_TOKEN'], // provider-name-ok: a variable of Claude Code
    assumedContext: 'a million tokens, unless CLAUDE_CODE_MAX_CONTEXT_TOKENS is set',
    ...jsonSettings(CLAUDE_CODE),
    testCall: (gate) => ({
      operation: 'POST /v1/messages',
      member: 'content',
      body: {
        model: gate,
        max_tokens: MAX_TOKENS,
        messages: [{ role: 'user', content: HELLO }],
      },
    }),
    start: () => 'claude',
  },
  codex: {
    title: 'Codex',
    file: (environment) =>
      join(environment.CODEX_HOME || join(homeOf(environment), '.codex'), 'config.toml'),
    hasSmallGate: false,
    precedence: [],
    write: writeCodex,
    restore: restoreCodex,
    createFile: createCatalog,
    ownFileOf: catalogFileOf,
    testCall: (gate) => ({
      operation: 'POST /v1/responses',
      member: 'output',
      // Codex asks for encrypted reasoning in every call, and some models refuse the option.
      body: { model: gate, input: HELLO, store: false, include: ['reasoning.encrypted_content'] },
    }),
    start: () => 'codex',
  },
  opencode: {
    title: 'opencode',
    file: (environment) => {
      const folder = join(configFolderOf(environment), 'opencode')
      const plain = join(folder, 'opencode.json')
      const withComments = join(folder, 'opencode.jsonc')
      return existsSync(withComments) && !existsSync(backupOf(plain)) ? withComments : plain
    },
    hasSmallGate: true,
    precedence: [],
    ...jsonSettings(OPENCODE),
    testCall: chatCall,
    start: () => 'opencode',
  },
  env: {
    title: 'SDKs of OpenAI and Anthropic', // provider-name-ok: a title
    file: (environment) => join(configFolderOf(environment), 'gatehouse', 'env.sh'),
    hasSmallGate: false,
    precedence: [],
    write: (_, { base, gate, tokenFile }) =>
      [
        `# Written by gatehouse connect env. Name the gate '${gate}' as the model.`,
        `export OPENAI_BASE_URL=${quote(`${base}/v1`)} ANTHROPIC_BASE_URL=${quote(base)}`,
        `export OPENAI_API_KEY="$(${printToken(tokenFile)})"`,
        // provider-name-ok: a variable of an SDK
        'export ANTHROPIC_AUTH_TOKEN="$OPENAI_API_KEY"',
        '',
      ].join('\n'),
    restore: (_, former) => former,
    testCall: chatCall,
    start: (file) => `. ${quote(file)}`,
  },
} satisfies Record<string, ConnectedClient>

function jsonSettings(
  settings: readonly JsonSetting[],
): Pick<ConnectedClient, 'write' | 'restore'> {
  return {
    write(text, connection, file) {
      const before = parseJson(text, file)
      for (const { path, isOwn } of settings)
        if (isOwn && memberAt(before, path) !== undefined) throw memberExists(path, file)
      const edits = settings.map(({ path, toValue }) => ({
        path,
        value: toValue(connection, memberAt(before, path)),
      }))
      return editJson(text, edits, file)
    },
    restore(text, former, file) {
      const before = parseJson(former, file)
      const edits = settings.map(({ path }) => ({ path, value: memberAt(before, path) }))
      const edited = editJson(text, edits, file)
      const empty = emptied(settings, { before, after: parseJson(edited, file) })
      const after = editJson(edited, empty, file)
      return former === '' && Bun.deepEquals(parseJson(after, file), {}) ? '' : after
    },
  }
}

/** Removes objects that are empty now and were absent before. */
function emptied(
  settings: readonly JsonSetting[],
  { before, after }: { readonly before: Members; readonly after: Members },
): readonly JsonEdit[] {
  const parents = new Set(settings.flatMap(({ path }) => path.slice(0, -1)))
  return [...parents]
    .filter((name) => before[name] === undefined && Bun.deepEquals(after[name], {}))
    .map((name) => ({ path: [name], value: undefined }))
}

/** opencode takes both numbers or none. */
function opencodeLimit(limits: GateLimits | undefined) {
  const { context, output } = limits ?? {}
  return context === undefined || output === undefined ? {} : { limit: { context, output } }
}

function homeOf({ HOME }: Environment): string {
  return HOME || homedir()
}

function printToken(tokenFile: string): string {
  return `cat ${quote(tokenFile)}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function memberExists(path: readonly string[], file: string): CliError {
  return new CliError(
    'conflict',
    `${file} has '${path.join('.')}' already, which gatehouse connect did not write: rename or ` +
      'remove it first. Nothing was written.',
  )
}
