export interface SnippetPlace {
  readonly baseUrl: string
  /** A valid gate id, which needs no escaping in code. */
  readonly gateId: string
}

export type SnippetFamily = 'curl' | 'OpenAI' | 'Anthropic' | 'Mistral FIM' | 'Vercel AI SDK'

export interface CallSnippet {
  readonly id: string
  readonly name: string
  readonly code: string
  readonly family: SnippetFamily
  readonly endpoint: string
  readonly variant: string
  readonly install?: string
}

export const KEY_VARIABLE = 'GATEHOUSE_API_KEY'

const PROMPT = 'Say hello in five languages.'

/**
 * All snippets, curl first because curl needs nothing installed. Every call asks for a single
 * complete answer.
 */
export function callSnippets(place: SnippetPlace): readonly CallSnippet[] {
  const clean = { ...place, baseUrl: place.baseUrl.replace(/\/+$/, '') }
  return [
    ...curlSnippets(clean),
    ...openaiSnippets(clean),
    ...anthropicSnippets(clean),
    ...mistralSnippets(clean),
    vercelSnippet(clean),
  ].map((snippet) => ({ ...snippet, endpoint: endpointOf(snippet) }))
}

type Draft = Omit<CallSnippet, 'endpoint'>

function endpointOf({ id, variant, family }: Draft): string {
  if (id.includes('fim')) return '/alt/v1/fim/completions'
  if (family === 'Anthropic' || variant === 'Messages') return '/v1/messages'
  // The Vercel AI SDK uses OpenAI's newer endpoint by default.
  if (family === 'Vercel AI SDK' || variant.endsWith('Responses')) return '/v1/responses'
  return '/v1/chat/completions'
}

function curlSnippets({ baseUrl, gateId }: SnippetPlace): readonly Draft[] {
  const curl = (path: string, body: readonly string[]) => `curl ${baseUrl}${path} \\
  -H "Authorization: Bearer $${KEY_VARIABLE}" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${gateId}",
${body.map((line) => `    ${line}`).join('\n')}
  }'`
  const messages = `"messages": [{ "role": "user", "content": "${PROMPT}" }]`
  const make = (id: string, variant: string, code: string): Draft => ({
    id: `curl-${id}`,
    family: 'curl',
    variant,
    name: `curl, ${variant}`,
    code,
  })
  return [
    make('responses', 'Responses', curl('/v1/responses', [`"input": "${PROMPT}"`])),
    make('chat', 'Chat', curl('/v1/chat/completions', [messages])),
    make('messages', 'Messages', curl('/v1/messages', ['"max_tokens": 1024,', messages])),
    make(
      'fim',
      'FIM',
      curl('/alt/v1/fim/completions', ['"prompt": "def add(a, b):",', '"suffix": "return result"']),
    ),
  ]
}

function openaiSnippets({ baseUrl, gateId }: SnippetPlace): readonly Draft[] {
  const typescript = (call: string) => `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${baseUrl}/v1',
  apiKey: process.env.${KEY_VARIABLE},
})

${call}`
  const python = (call: string) => `import os

from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}/v1",
    api_key=os.environ["${KEY_VARIABLE}"],
)

${call}`
  return [
    {
      ...inTypescript('openai', 'OpenAI', 'Responses'),
      code: typescript(`const response = await client.responses.create({
  model: '${gateId}',
  input: '${PROMPT}',
})
console.log(response.output_text)`),
    },
    {
      ...inPython('openai', 'OpenAI', 'Responses'),
      code: python(`response = client.responses.create(
    model="${gateId}",
    input="${PROMPT}",
)
print(response.output_text)`),
    },
    {
      ...inTypescript('openai', 'OpenAI', 'Chat'),
      code: typescript(`const completion = await client.chat.completions.create({
  model: '${gateId}',
  messages: [{ role: 'user', content: '${PROMPT}' }],
})
console.log(completion.choices[0].message.content)`),
    },
    {
      ...inPython('openai', 'OpenAI', 'Chat'),
      code: python(`completion = client.chat.completions.create(
    model="${gateId}",
    messages=[{"role": "user", "content": "${PROMPT}"}],
)
print(completion.choices[0].message.content)`),
    },
  ]
}

function anthropicSnippets({ baseUrl, gateId }: SnippetPlace): readonly Draft[] {
  return [
    {
      ...inTypescript('@anthropic-ai/sdk', 'Anthropic'),
      code: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: '${baseUrl}',
  apiKey: process.env.${KEY_VARIABLE},
})

const message = await client.messages.create({
  model: '${gateId}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: '${PROMPT}' }],
})
for (const block of message.content) {
  if (block.type === 'text') console.log(block.text)
}`,
    },
    {
      ...inPython('anthropic', 'Anthropic'),
      code: `import os

from anthropic import Anthropic

client = Anthropic(
    base_url="${baseUrl}",
    api_key=os.environ["${KEY_VARIABLE}"],
)

message = client.messages.create(
    model="${gateId}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "${PROMPT}"}],
)
for block in message.content:
    if block.type == "text":
        print(block.text)`,
    },
  ]
}

/** Only this dialect needs a gate with a fill-in-the-middle target. */
function mistralSnippets({ baseUrl, gateId }: SnippetPlace): readonly Draft[] {
  return [
    {
      ...inTypescript('@mistralai/mistralai', 'Mistral FIM'),
      code: `import { Mistral } from '@mistralai/mistralai'

const client = new Mistral({
  serverURL: '${baseUrl}/alt',
  apiKey: process.env.${KEY_VARIABLE},
})

const completion = await client.fim.complete({
  model: '${gateId}',
  prompt: 'def add(a, b):',
  suffix: 'return result',
})
console.log(completion.choices[0].message?.content)`,
    },
    {
      ...inPython('mistralai', 'Mistral FIM'),
      code: `import os

from mistralai.client import Mistral  # before version 2: from mistralai import Mistral

client = Mistral(
    server_url="${baseUrl}/alt",
    api_key=os.environ["${KEY_VARIABLE}"],
)

completion = client.fim.complete(
    model="${gateId}",
    prompt="def add(a, b):",
    suffix="return result",
)
print(completion.choices[0].message.content)`,
    },
  ]
}

function vercelSnippet({ baseUrl, gateId }: SnippetPlace): Draft {
  return {
    id: 'vercel-ai-sdk-typescript',
    family: 'Vercel AI SDK',
    variant: 'TypeScript',
    name: 'Vercel AI SDK',
    install: 'npm install ai @ai-sdk/openai',
    code: `import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'

const gateway = createOpenAI({
  baseURL: '${baseUrl}/v1',
  apiKey: process.env.${KEY_VARIABLE},
})

const { text } = await generateText({
  model: gateway('${gateId}'),
  prompt: '${PROMPT}',
})
console.log(text)`,
  }
}

function inTypescript(
  packageName: string,
  family: SnippetFamily,
  part?: string,
): Omit<Draft, 'code'> {
  return { ...described(family, 'TypeScript', part), install: `npm install ${packageName}` }
}

function inPython(packageName: string, family: SnippetFamily, part?: string): Omit<Draft, 'code'> {
  return { ...described(family, 'Python', part), install: `pip install ${packageName}` }
}

function described(family: SnippetFamily, language: string, part: string | undefined) {
  const variant = part === undefined ? language : `${language}, ${part}`
  const id = `${family}-${language}${part === undefined ? '' : `-${part}`}`
  return {
    id: id.toLowerCase().replaceAll(' ', '-'),
    family,
    variant,
    name: `${family} ${variant}`,
  }
}
