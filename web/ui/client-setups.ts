import { callSnippets, KEY_VARIABLE, type SnippetPlace } from './snippets.ts'

export interface ClientSetup {
  readonly id: string
  readonly name: string
  readonly parts: readonly {
    readonly place: string
    readonly code: string
  }[]
}

/** Agents first, then SDKs. The token is only in lines for the shell, never in a file. */
export function clientSetups(
  place: SnippetPlace & { readonly token: string },
): readonly ClientSetup[] {
  const { baseUrl, gateId, token } = place
  const inShell = (lines: readonly string[]) => ({ place: 'In the shell', code: lines.join('\n') })
  const variable = `export ${KEY_VARIABLE}=${token}`
  const sdks = callSnippets(place).filter(({ id }) => SDKS.has(id))
  return [
    {
      id: 'claude-code',
      name: 'Claude Code',
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
      parts: [
        { place: 'opencode.json in the project', code: opencodeConfig(place) },
        inShell([variable, 'opencode']),
      ],
    },
    {
      id: 'copilot',
      name: 'Copilot CLI',
      parts: [
        inShell([
          `export COPILOT_PROVIDER_BASE_URL=${baseUrl}/v1`,
          `export COPILOT_PROVIDER_API_KEY=${token}`,
          `export COPILOT_MODEL=${gateId}`,
          'copilot',
        ]),
      ],
    },
    ...sdks.map(({ id, family, variant, install, code }) => ({
      id,
      name: `${family} SDK, ${variant.replace(', Responses', '')}`,
      parts: [
        inShell([...(install === undefined ? [] : [install]), variable]),
        { place: 'In the code', code },
      ],
    })),
  ]
}

const SDKS: ReadonlySet<string> = new Set([
  'openai-typescript-responses',
  'openai-python-responses',
  'anthropic-typescript',
  'anthropic-python',
])

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
