import { callSnippets, KEY_VARIABLE, type SnippetPlace } from './snippets.ts'

export const CLIENT_GROUPS = ['Agents', 'Editors', 'SDKs'] as const

export interface ClientSetup {
  readonly id: string
  readonly name: string
  readonly group: (typeof CLIENT_GROUPS)[number]
  /** Lines with `gatehouse connect`. Undefined: the command does not support the client. */
  readonly command?: string
  readonly note?: string
  readonly parts: readonly {
    readonly place: string
    readonly code: string
  }[]
}

/**
 * Agents first, then editors and SDKs. No file contains the token.
 * @param token undefined for a placeholder
 */
export function clientSetups({
  token: givenToken,
  ...place
}: SnippetPlace & { readonly token?: string | undefined }): readonly ClientSetup[] {
  const { baseUrl, gateId } = place
  const token = givenToken ?? TOKEN_PLACEHOLDER
  const inShell = (lines: readonly string[]) => ({ place: IN_SHELL, code: lines.join('\n') })
  const variable = `export ${KEY_VARIABLE}=${token}`
  // Without the variable, the command asks for the token.
  const known = givenToken === undefined ? '' : `GATEHOUSE_TOKEN=${givenToken} `
  const connect = (client: string) =>
    `${known}gatehouse connect ${client} --url ${baseUrl} --gate ${gateId}`
  const snippets = callSnippets(place)
  return [
    {
      id: 'claude-code',
      name: 'Claude Code',
      group: 'Agents',
      command: connect('claude-code'),
      parts: [
        inShell([
          `export ANTHROPIC_BASE_URL=${baseUrl}`,
          `export ANTHROPIC_AUTH_TOKEN=${token}`,
          `export ANTHROPIC_MODEL=${gateId} ANTHROPIC_SMALL_FAST_MODEL=${gateId}`,
          'claude',
        ]),
      ],
    },
    {
      id: 'codex',
      name: 'Codex',
      group: 'Agents',
      command: connect('codex'),
      note: 'Codex asks for encrypted reasoning in every call, so the gate needs a reasoning model.',
      parts: [
        {
          place: '~/.codex/config.toml',
          code: `model = "${gateId}"
model_provider = "gatehouse"

[model_providers.gatehouse]
name = "Gatehouse"
base_url = "${baseUrl}/v1"
env_key = "${KEY_VARIABLE}"
wire_api = "responses"`,
        },
        inShell([variable, 'codex']),
      ],
    },
    {
      id: 'opencode',
      name: 'opencode',
      group: 'Agents',
      command: connect('opencode'),
      parts: [
        { place: 'opencode.json in the project', code: opencodeConfig(place) },
        inShell([variable, 'opencode']),
      ],
    },
    {
      id: 'copilot',
      name: 'Copilot CLI',
      group: 'Agents',
      parts: [
        inShell([
          `export COPILOT_PROVIDER_BASE_URL=${baseUrl}/v1`,
          `export COPILOT_PROVIDER_API_KEY=${token}`,
          `export COPILOT_MODEL=${gateId}`,
          'copilot',
        ]),
      ],
    },
    {
      id: 'cursor',
      name: 'Cursor',
      group: 'Editors',
      note:
        'Cursor sends calls from its own servers, so these servers must reach the address: a ' +
        'gateway on your own machine or in a private network is not enough. Other editors with ' +
        'an OpenAI-compatible provider take the same three values.',
      parts: [
        { place: 'Settings, Models: OpenAI API Key', code: token },
        { place: 'Settings, Models: Override OpenAI Base URL', code: `${baseUrl}/v1` },
        { place: 'Settings, Models: Add Custom Model', code: gateId },
      ],
    },
    ...snippets
      .filter(({ id }) => SDKS.has(id))
      .map(
        ({ id, family, variant, install, code }): ClientSetup => ({
          id,
          name: family === 'Vercel AI SDK' ? family : `${family} SDK, ${languageOf(variant)}`,
          group: 'SDKs',
          ...(READS_VARIABLES.has(family)
            ? { command: `${connect('env')}\n. ~/.config/gatehouse/env.sh`, note: VARIABLES_NOTE }
            : {}),
          parts: [
            inShell([...(install === undefined ? [] : [install]), variable]),
            { place: 'In the code', code },
          ],
        }),
      ),
    ...snippets
      .filter(({ id }) => id === 'curl-chat')
      .map(
        ({ code }): ClientSetup => ({
          id: 'curl',
          name: 'curl',
          group: 'SDKs',
          parts: [inShell([variable, '', code])],
        }),
      ),
  ]
}

const TOKEN_PLACEHOLDER = 'at-svc-…'
const IN_SHELL = 'In the shell'
const VARIABLES_NOTE =
  'The second line of the command sets the variables that the SDKs of OpenAI and Anthropic read. ' +
  'The code then needs neither address nor token.'
/** SDKs that read the variables of `gatehouse connect env`. */
const READS_VARIABLES: ReadonlySet<string> = new Set(['OpenAI', 'Anthropic'])

const SDKS: ReadonlySet<string> = new Set([
  'openai-typescript-responses',
  'openai-python-responses',
  'anthropic-typescript',
  'anthropic-python',
  'vercel-ai-sdk-typescript',
])

function languageOf(variant: string): string {
  return variant.replace(', Responses', '')
}
function opencodeConfig({ baseUrl, gateId }: SnippetPlace): string {
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Gatehouse',
    options: { baseURL: `${baseUrl}/v1`, apiKey: `{env:${KEY_VARIABLE}}` },
    models: { [gateId]: { name: gateId } },
  }
  return JSON.stringify(
    {
      $schema: 'https://opencode.ai/config.json',
      provider: { gatehouse: provider },
      model: `gatehouse/${gateId}`,
      small_model: `gatehouse/${gateId}`,
    },
    null,
    2,
  )
}
