/**
 * An upstream that streams at the pace in the prompt: chat chunks, or Messages events at that
 * dialect's path.
 */
import { OPEN_STREAMS_PATH, readPace } from './pace.ts'

interface Play {
  readonly begin: Uint8Array
  readonly event: Uint8Array
  readonly end: Uint8Array
}

const encoder = new TextEncoder()
const chunk = (choices: string, usage = 'null') =>
  `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":${choices},"usage":${usage}}\n\n`

const CHAT: Play = {
  begin: new Uint8Array(0),
  event: encoder.encode(
    chunk('[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]'),
  ),
  end: encoder.encode(
    [
      chunk('[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]'),
      chunk('[]', '{"prompt_tokens":12,"completion_tokens":100,"total_tokens":112}'),
      'data: [DONE]\n\n',
    ].join(''),
  ),
}

const named = (type: string, members = '') =>
  `event: ${type}\ndata: {"type":"${type}"${members}}\n\n`

const MESSAGES: Play = {
  begin: encoder.encode(
    named(
      'message_start',
      ',"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"usage":{"input_tokens":12,"output_tokens":1}}',
    ) + named('content_block_start', ',"index":0,"content_block":{"type":"text","text":""}'),
  ),
  event: encoder.encode(
    named('content_block_delta', ',"index":0,"delta":{"type":"text_delta","text":" word"}'),
  ),
  end: encoder.encode(
    named('content_block_stop', ',"index":0') +
      named('message_delta', ',"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":100}') +
      named('message_stop'),
  ),
}

let openStreams = 0

async function* stream({ begin, event, end }: Play, pace: ReturnType<typeof readPace>) {
  openStreams += 1
  try {
    if (begin.byteLength > 0) yield begin
    for (let sent = 0; sent < pace.events; sent += 1) {
      yield event
      if (pace.everyMs > 0) await Bun.sleep(pace.everyMs)
    }
    yield end
  } finally {
    openStreams -= 1
  }
}

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  idleTimeout: 0,
  development: false,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname === OPEN_STREAMS_PATH) return new Response(String(openStreams))
    const play = pathname.endsWith('/messages') ? MESSAGES : CHAT
    return new Response(stream(play, readPace(await request.text())), {
      headers: { 'content-type': 'text/event-stream' },
    })
  },
})
