import { type Snippet, SnippetTabs } from '../../ui/code-block.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import type { ChatMessage, ChatRequest } from './conversation.ts'

export function CodeDialog({
  request,
  onClose,
}: {
  readonly request: ChatRequest
  readonly onClose: () => void
}) {
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`The conversation with ${request.gate_id} as code`}
      note="Asks the last question again, with everything that was said before it. The key comes from the environment: GATEHOUSE_API_KEY."
      width="wide"
    >
      <SnippetTabs label="Language" snippets={writeCode(request, location.origin)} />
    </Dialog>
  )
}

export function writeCode(request: ChatRequest, baseUrl: string): readonly Snippet[] {
  const call = toChatCompletion(request)
  return [
    { name: 'curl', code: writeCurl(request, baseUrl) },
    { name: 'TypeScript', code: writeTypeScript(call, baseUrl) },
    { name: 'Python', code: writePython(call, baseUrl) },
  ]
}

function writeCurl(request: ChatRequest, baseUrl: string): string {
  return [
    `curl ${quoteForShell(`${baseUrl}/v3/chat`)} \\`,
    '  -H "Authorization: Bearer $GATEHOUSE_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d ${quoteForShell(JSON.stringify(request, null, 2))}`,
  ].join('\n')
}

/** Inside single quotes a shell changes nothing, so only the quote itself needs escaping. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function writeTypeScript(call: object, baseUrl: string): string {
  return `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${JSON.stringify(`${baseUrl}/v1`)},
  apiKey: process.env.GATEHOUSE_API_KEY,
})

const completion = await client.chat.completions.create(${writeLiteral(call, TYPESCRIPT)})
console.log(JSON.stringify(completion.choices[0]?.message))`
}

function writePython(call: object, baseUrl: string): string {
  const parameters = Object.entries(call).map(
    ([name, value]) => `    ${name}=${writeLiteral(value, PYTHON, '    ')},`,
  )
  return `import os

from openai import OpenAI

client = OpenAI(
    base_url=${JSON.stringify(`${baseUrl}/v1`)},
    api_key=os.environ["GATEHOUSE_API_KEY"],
)

completion = client.chat.completions.create(
${parameters.join('\n')}
)
print(completion.choices[0].message)`
}

interface Language {
  readonly indent: string
  readonly key: (name: string) => string
  readonly true: string
  readonly false: string
  readonly null: string
}

const TYPESCRIPT: Language = {
  indent: '  ',
  // A plain member of this name would set the object's prototype.
  key: (name) =>
    name === '__proto__'
      ? '["__proto__"]'
      : /^[A-Za-z_$][\w$]*$/.test(name)
        ? name
        : JSON.stringify(name),
  true: 'true',
  false: 'false',
  null: 'null',
}

const PYTHON: Language = {
  indent: '    ',
  key: JSON.stringify,
  true: 'True',
  false: 'False',
  null: 'None',
}

function writeLiteral(value: unknown, language: Language, at = ''): string {
  if (typeof value === 'string' || typeof value === 'number') return JSON.stringify(value)
  if (typeof value === 'boolean') return value ? language.true : language.false
  if (value === null || value === undefined) return language.null
  const inner = at + language.indent
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((item) => `${inner}${writeLiteral(item, language, inner)},\n`).join('')}${at}]`
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  if (members.length === 0) return '{}'
  const lines = members.map(
    ([name, member]) =>
      `${inner}${language.key(name)}: ${writeLiteral(member, language, inner)},\n`,
  )
  return `{\n${lines.join('')}${at}}`
}

function toChatCompletion(request: ChatRequest) {
  const { gate_id: model, messages, tools, temperature, max_output_tokens, reasoning } = request
  return {
    model,
    messages: messages.map(toCompletionMessage),
    ...(tools === undefined
      ? {}
      : { tools: tools.map((tool) => ({ type: 'function', function: { ...tool } })) }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(max_output_tokens === undefined ? {} : { max_completion_tokens: max_output_tokens }),
    ...(reasoning?.effort === undefined ? {} : { reasoning_effort: reasoning.effort }),
  }
}

function toCompletionMessage(message: ChatMessage): object {
  if (message.role !== 'assistant' || message.tool_calls === undefined) return message
  return {
    role: 'assistant',
    content: message.content,
    tool_calls: message.tool_calls.map(({ id, name, arguments: written }) => ({
      id,
      type: 'function',
      function: { name, arguments: written },
    })),
  }
}
