/**
 * A model for agents to talk to: keeps each request, answers the first of a conversation with a
 * call of one of the offered tools, and ends the conversation once a tool has answered.
 */
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
  stop(): Promise<void>
}

type Answer = (spoken: Spoken) => Response

const ANSWERS: readonly (readonly [path: RegExp, answer: Answer])[] = [
  [/\/responses$/, answerResponses],
  [/\/chat\/completions$/, answerChat],
  [/\/messages$/, answerMessages],
]

/** @param args of tools by their names: an object, or the text that a custom tool takes */
export function startRecorder(args: Readonly<Record<string, object | string>>): Recorder {
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
  return { url: server.url.origin, calls, stop: () => server.stop(true) }
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
function listTools({ tools = [], input }: Asked): readonly Tool[] {
  const brought = typeof input === 'object' ? input.flatMap((item) => item.tools ?? []) : []
  return [...tools, ...brought].flatMap((tool) => [tool, ...(tool.tools ?? [])])
}

/** The first of `args` that is offered. */
function chooseCall(
  tools: readonly Tool[],
  args: Readonly<Record<string, object | string>>,
): Spoken['call'] {
  for (const [name, given] of Object.entries(args)) {
    const tool = tools.find(({ name: own, function: declared }) => (declared?.name ?? own) === name)
    if (tool !== undefined) return { name, args: given }
  }
  return undefined
}
