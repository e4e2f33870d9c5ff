/** Request bodies for the contenders. */

/** A chat request of about `bytes` bytes: one message with one long text. */
export function chatBody(model: string, bytes: number): string {
  const text = 'The quick brown fox jumps over the lazy dog. '
    .repeat(Math.ceil(bytes / 45))
    .slice(0, Math.max(1, bytes - 60))
  return JSON.stringify({ model, messages: [{ role: 'user', content: text }] })
}

const TOOLS = 20
/**
 * A line of a file as an agent sends it: with an escape at its end and escapes around its string.
 */
const LINE = '  const label = toLabel(bytes, \'none\')\n  return { label, at: now(), of: "some" }\n'
const LINES_OF_A_FILE = 28

/**
 * An agent's next turn, of about `bytes` bytes: its tools, and the files read so far. The body
 * consists of many short strings.
 */
export function agentBody(model: string, bytes: number): string {
  const tools = Array.from({ length: TOOLS }, (_, index) => toolOf(index))
  const messages: object[] = [{ role: 'user', content: 'Find out why the page is "empty".' }]
  const spent = () => JSON.stringify({ model, messages, tools }).length
  const turn = JSON.stringify(turnOf(0)).length
  for (let left = bytes - spent(); left > turn / 2; left -= turn)
    messages.push(...turnOf(messages.length))
  return JSON.stringify({ model, messages, tools })
}

function toolOf(index: number): object {
  const texts = ['path', 'pattern', 'from', 'to', 'reason'].map((name) => [
    name,
    { type: 'string', description: `The "${name}" of what is wanted.\nLeave it out for all.` },
  ])
  return {
    type: 'function',
    function: {
      name: `tool_${index}`,
      description: 'Reads a part of a file.\nSay "all" for the whole of it. '.repeat(4),
      parameters: {
        type: 'object',
        properties: Object.fromEntries(texts),
        required: ['path'],
        additionalProperties: false,
      },
    },
  }
}

function turnOf(index: number): readonly object[] {
  const id = `call_${String(index).padStart(4, '0')}`
  const call = { name: 'tool_1', arguments: JSON.stringify({ path: 'src/page.ts', from: index }) }
  return [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: call }],
    },
    { role: 'tool', tool_call_id: id, content: LINE.repeat(LINES_OF_A_FILE) },
  ]
}
