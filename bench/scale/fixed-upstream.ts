/**
 * An upstream that answers every call at once with the same JSON, in a process of its own; prints
 * its port. Judges nothing.
 */
import { ANSWER } from '../upstream.ts'

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    await request.arrayBuffer()
    return new Response(ANSWER, { headers: { 'content-type': 'application/json' } })
  },
})
process.stdout.write(`${server.port}\n`)
