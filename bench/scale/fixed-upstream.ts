/**
 * An upstream in its own process that answers every call immediately with the same JSON. Prints its
 * port.
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
