/**
 * The smallest possible gateway on this runtime: reads the request, forwards it and answers. Has no
 * keys and no gates.
 */
const upstream = process.argv[3] ?? ''

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  idleTimeout: 0,
  development: false,
  async fetch(request) {
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    for (const [name, value] of request.headers) if (name.startsWith('x-')) headers[name] = value
    const answer = await fetch(upstream + new URL(request.url).pathname, {
      method: 'POST',
      headers,
      body: await request.bytes(),
    })
    const type = answer.headers.get('content-type') ?? ''
    const body = type.startsWith('text/event-stream') ? answer.body : await answer.bytes()
    return new Response(body, { status: answer.status, headers: { 'content-type': type } })
  },
})
