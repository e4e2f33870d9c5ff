/** The agents whose requests are recorded: how each is configured and started, without a login. */

export interface Agent {
  /** Of its fixture. */
  readonly id: string
  /** npm packages; the first one's version is the agent's. */
  readonly packages: readonly string[]
  readonly runs: readonly AgentRun[]
}

export interface AgentRun {
  /** Names the run where an agent has several. */
  readonly name: string
  /** The program of a package in `node_modules/.bin`, or `bun` for a file of `files`. */
  readonly program: string
  readonly words: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Tools that the recording model calls before those of `TOOL_ARGS`, with their arguments. */
  readonly calls?: ToolArgs
  /** Written before, from the home folder. */
  readonly files?: Readonly<Record<string, string>>
}

export const KEY = `sk-svc-${'0'.repeat(64)}`
export const GATE = 'my-gate'
/** The run in which the model starts subagents. */
export const SUBAGENT_RUN = 'subagent'
export const NOTES = 'notes.txt'
export const PROMPT = `Read ${NOTES} with a tool, and tell what it says.`

const COMMAND = `cat ${NOTES}`

export type ToolArgs = Readonly<Record<string, object | string>>

const TASK = { description: 'Read the notes', prompt: PROMPT }

/** Arguments of the tools that the recording model calls: the first that is offered. */
export const TOOL_ARGS: ToolArgs = {
  exec: `text(await tools.exec_command({ cmd: '${COMMAND}' }))`,
  exec_command: { cmd: COMMAND },
  Bash: { command: COMMAND, description: 'Read the notes' },
  bash: { command: COMMAND, description: 'Read the notes' },
  read_notes: { name: NOTES },
}

/** @param url of the recording model, without a version */
export function listAgents(url: string): readonly Agent[] {
  return [codex(url), claudeCode(url), opencode(url), copilot(url), aiSdk(url), agentsSdk(url)]
}

function codex(url: string): Agent {
  const config = `model_provider = "gatehouse"
[model_providers.gatehouse]
name = "Gatehouse"
base_url = "${url}/v1"
env_key = "GATEHOUSE_API_KEY"
wire_api = "responses"
`
  const runOf = (model: string) => ({
    name: model,
    program: 'codex',
    words: [
      ...['exec', '--model', model, '--skip-git-repo-check'],
      ...['--sandbox', 'danger-full-access', PROMPT],
    ],
    environment: { GATEHOUSE_API_KEY: KEY },
    files: { '.codex/config.toml': config },
  })
  const spawn = { message: PROMPT, task_name: 'read_notes', fork_turns: 'none' }
  // By the name of a model it knows the tools of that model; of a gate it knows nothing.
  return {
    id: 'codex',
    packages: ['@openai/codex'],
    runs: [
      ...['gpt-6.2-sol', GATE].map(runOf),
      {
        ...runOf('gpt-6.2-sol'),
        name: SUBAGENT_RUN,
        calls: { 'collaboration.spawn_agent': spawn },
      },
    ],
  }
}

function claudeCode(url: string): Agent {
  const run = {
    name: 'claude',
    program: 'claude',
    words: ['-p', PROMPT, '--allowedTools', 'Bash Read Agent'],
    environment: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  }
  const calls = { Agent: { ...TASK, subagent_type: 'general-purpose' } }
  return {
    id: 'claude-code',
    packages: ['@anthropic-ai/claude-code'],
    runs: [run, { ...run, name: SUBAGENT_RUN, calls }],
  }
}

function opencode(url: string): Agent {
  const packages = {
    chat: '@ai-sdk/openai-compatible',
    responses: '@ai-sdk/openai',
    messages: '@ai-sdk/anthropic',
  }
  const provider = Object.fromEntries(
    Object.entries(packages).map(([id, npm]) => [
      id,
      {
        npm,
        name: 'Gatehouse',
        options: { baseURL: `${url}/v1`, apiKey: KEY },
        models: { [GATE]: { name: 'My gate', tool_call: true, reasoning: true } },
      },
    ]),
  )
  const config = { share: 'disabled', autoupdate: false, provider }
  const runOf = (name: string) => ({
    name,
    program: 'opencode',
    words: ['run', '--model', `${name}/${GATE}`, PROMPT],
    environment: {},
    files: { '.config/opencode/opencode.json': JSON.stringify(config) },
  })
  return {
    id: 'opencode',
    packages: ['opencode-ai'],
    runs: [
      ...Object.keys(packages).map(runOf),
      {
        ...runOf('chat'),
        name: SUBAGENT_RUN,
        calls: { task: { ...TASK, subagent_type: 'general' } },
      },
    ],
  }
}

function copilot(url: string): Agent {
  const kinds = [
    ['chat', 'openai', 'completions', '/v1'],
    ['responses', 'openai', 'responses', '/v1'],
    ['messages', 'anthropic', 'completions', ''],
  ] as const
  return {
    id: 'copilot-cli',
    packages: ['@github/copilot'],
    runs: kinds.map(([name, type, wireApi, path]) => ({
      name,
      program: 'copilot',
      words: ['-p', PROMPT, '--allow-all-tools'],
      environment: {
        COPILOT_OFFLINE: 'true',
        COPILOT_AUTO_UPDATE: 'false',
        COPILOT_MODEL: GATE,
        COPILOT_PROVIDER_TYPE: type,
        COPILOT_PROVIDER_WIRE_API: wireApi,
        COPILOT_PROVIDER_BASE_URL: url + path,
        COPILOT_PROVIDER_API_KEY: KEY,
      },
    })),
  }
}

function aiSdk(url: string): Agent {
  const program = `
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

const options = { baseURL: '${url}/v1', apiKey: '${KEY}' }
const openai = createOpenAI(options)
const anthropic = createAnthropic(options)
const read_notes = tool({
  description: 'Reads a file of notes.',
  inputSchema: z.object({ name: z.string() }),
  execute: async () => 'The gateway has seven stages.',
})
const own = { read_notes }
const runs = [
  [openai.responses('${GATE}'), { ...own, web_search: openai.tools.webSearch() }],
  [openai.chat('${GATE}'), own],
  [anthropic('${GATE}'), { ...own, web_search: anthropic.tools.webSearch_20250305({ maxUses: 2 }) }],
  [createOpenAICompatible({ ...options, name: 'gatehouse' })('${GATE}'), own],
]
for (const [model, tools] of runs) {
  const call = {
    model,
    tools,
    system: 'You are helpful.',
    prompt: '${PROMPT}',
    stopWhen: (isStepCount ?? stepCountIs)(3),
    // As the guide for clients has it: nothing is stored.
    providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } },
  }
  await generateText(call)
  for await (const _ of streamText(call).textStream);
}
`
  return {
    id: 'ai-sdk',
    packages: ['ai', '@ai-sdk/openai', '@ai-sdk/anthropic', '@ai-sdk/openai-compatible', 'zod'],
    runs: [
      {
        name: 'ai-sdk',
        program: 'bun',
        words: ['ai-sdk.mjs'],
        environment: {},
        files: { 'ai-sdk.mjs': program },
      },
    ],
  }
}

function agentsSdk(url: string): Agent {
  const program = `
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool, webSearchTool } from '@openai/agents'
import { z } from 'zod'

setTracingDisabled(true)
const read_notes = tool({
  name: 'read_notes',
  description: 'Reads a file of notes.',
  parameters: z.object({ name: z.string() }),
  execute: async () => 'The gateway has seven stages.',
})
for (const useResponses of [true, false]) {
  const modelProvider = new OpenAIProvider({
    baseURL: '${url}/v1',
    apiKey: '${KEY}',
    useResponses,
  })
  const tools = useResponses ? [read_notes, webSearchTool()] : [read_notes]
  const agent = new Agent({ name: 'Reader', instructions: 'You are helpful.', model: '${GATE}', tools })
  const runner = new Runner({ modelProvider })
  await runner.run(agent, '${PROMPT}')
  const streamed = await runner.run(agent, '${PROMPT}', { stream: true })
  for await (const _ of streamed);
}
`
  return {
    id: 'agents-sdk',
    packages: ['@openai/agents', 'zod'],
    runs: [
      {
        name: 'agents-sdk',
        program: 'bun',
        words: ['agents-sdk.mjs'],
        environment: {},
        files: { 'agents-sdk.mjs': program },
      },
    ],
  }
}
