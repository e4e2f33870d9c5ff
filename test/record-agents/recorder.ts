/**
 * A model for agents to talk to: keeps each request, answers the first of a conversation with a
 * call of one of the offered tools, and ends the conversation once a tool has answered.
 */
import type { ToolArgs } from './agents.ts'
import { answerChat, answerMessages, answerResponses, type Spoken } from './answers.ts'

export interface RecordedCall {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** As it was sent. */
  readonly body: string
}

export interface Recorder {
  readonly url: string
  readonly calls: readonly RecordedCall[]
  /** @param args of tools by their names: an object, or the text that a custom tool takes */
  use(args: ToolArgs): void
  stop(): Promise<void>
}

type Answer = (spoken: Spoken) => Response

const ANSWERS: readonly (readonly [path: RegExp, answer: Answer])[] = [
  [/\/responses$/, answerResponses],
  [/\/chat\/completions$/, answerChat],
  [/\/messages$/, answerMessages],
]

export function startRecorder(): Recorder {
  let args: ToolArgs = {}
  const calls: RecordedCall[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const { pathname: path } = new URL(request.url)
      const answer = ANSWERS.find(([pattern]) => pattern.test(path))?.[1]
      if (request.method !== 'POST' || answer === undefined)
        return /count_tokens$/.test(path)
          ? Response.json({ input_tokens: 9 })
          : Response.json({ object: 'list', data: [] })
      const body = await request.text()
      calls.push({ path, headers: Object.fromEntries(request.headers), body })
      const asked = JSON.parse(body) as Asked
      return answer({
        model: asked.model,
        isStream: asked.stream === true,
        call: hasResult(asked) ? undefined : chooseCall(listTools(asked), args),
      })
    },
  })
  return {
    url: server.url.origin,
    calls,
    use: (given) => {
      args = given
    },
    stop: () => server.stop(true),
  }
}

/** Of all dialects that agents speak. */
interface Asked {
  readonly model: string
  readonly stream?: boolean
  readonly tools?: readonly Tool[]
  readonly input?: string | readonly Item[]
  readonly messages?: readonly Item[]
}

interface Item {
  readonly type?: string
  readonly role?: string
  readonly content?: unknown
  readonly tools?: readonly Tool[]
}

interface Tool {
  readonly type?: string
  readonly name?: string
  readonly function?: { readonly name: string }
  readonly tools?: readonly Tool[]
}

/** True of a request whose history has what a tool answered: a later turn. */
export function hasResult({ input, messages = [] }: Pick<Asked, 'input' | 'messages'>): boolean {
  const items = typeof input === 'object' ? [...input, ...messages] : messages
  return items.some(({ type, role, content }) => {
    const blocks = Array.isArray(content) ? (content as readonly Item[]) : []
    return (
      type?.endsWith('_output') === true ||
      role === 'tool' ||
      blocks.some((block) => block.type === 'tool_result')
    )
  })
}

/** Also those that an item of the input brings, and those within a namespace. */
function listTools({ tools = [], input }: Asked): readonly OfferedTool[] {
  const brought = typeof input === 'object' ? input.flatMap((item) => item.tools ?? []) : []
  return [...tools, ...brought].flatMap((tool) => [
    tool,
    ...(tool.tools ?? []).map((within) => ({ ...within, namespace: tool.name })),
  ])
}

interface OfferedTool extends Tool {
  readonly namespace?: string | undefined
}

/** The first of `args` that is offered. */
function chooseCall(tools: readonly OfferedTool[], args: ToolArgs): Spoken['call'] {
  for (const [key, given] of Object.entries(args)) {
    const [name = '', namespace] = key.split('.').reverse()
    const tool = tools.find(
      (offered) =>
        (offered.function?.name ?? offered.name) === name &&
        (namespace === undefined || offered.namespace === namespace),
    )
    if (tool === undefined) continue
    return { name, args: given, ...(namespace !== undefined && { namespace }) }
  }
  return undefined
}
