/** An upstream that streams chat chunks at a steady pace: told by headers, by default 100 events, one a millisecond. */
import { HEADERS_OF_PACE, OPEN_STREAMS_PATH } from './pace.ts'

const encoder = new TextEncoder()
const CHUNK = encoder.encode(
  `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}],"usage":null}\n\n`,
)
const END = encoder.encode(
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}\n\ndata: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":100,"total_tokens":112}}\n\ndata: [DONE]\n\n',
)

let openStreams = 0

async function* stream(events: number, everyMs: number): AsyncGenerator<Uint8Array> {
  openStreams += 1
  try {
    for (let sent = 0; sent < events; sent += 1) {
      yield CHUNK
      if (everyMs > 0) await Bun.sleep(everyMs)
    }
    yield END
  } finally {
    openStreams -= 1
  }
}

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  idleTimeout: 0,
  development: false,
  fetch(request) {
    if (new URL(request.url).pathname === OPEN_STREAMS_PATH) return new Response(String(openStreams))
    const events = Number(request.headers.get(HEADERS_OF_PACE.events) ?? 100)
    const everyMs = Number(request.headers.get(HEADERS_OF_PACE.everyMs) ?? 1)
    return new Response(stream(events, everyMs), { headers: { 'content-type': 'text/event-stream' } })
  },
})
