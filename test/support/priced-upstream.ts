/**
 * A provider `acme` whose models have prices by their names: `dear`, `mid`, `cheap` and `free`, and
 * `unpriced`. A model that ends in `-broken` fails, and one that ends in `-slow` waits.
 */
export interface PricedUpstream {
  readonly url: string
  /** The text of gatehouse.yaml, for which `ACME_API_KEY` must be set. */
  readonly configuration: string
  /** The models that were asked, in order. */
  readonly asked: readonly string[]
  breakModel(model: string): void
  reset(): void
  stop(): void
}

/** US dollars per million tokens. */
const PRICES = { dear: 100, mid: 1, cheap: 0.1, free: 0 } as const
const SUFFIXES = ['', '-broken', '-slow']
const SLOW_MS = 300
const USAGE = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 }

export function startPricedUpstream(): PricedUpstream {
  let asked: string[] = []
  const broken = new Set<string>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { model, stream } = (await request.json()) as { model: string; stream?: boolean }
      asked.push(model)
      if (model.endsWith('-slow')) await Bun.sleep(SLOW_MS)
      if (model.endsWith('-broken') || broken.has(model))
        return Response.json({ error: { message: 'broken' } }, { status: 500 })
      if (request.url.endsWith('/responses')) return Response.json(responseOf(model))
      return stream === true ? streamOf(model) : Response.json(answerOf(model))
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  const models = Object.entries(PRICES).flatMap(([name, price]) =>
    SUFFIXES.map(
      (suffix) =>
        `  - {model: acme/${name}${suffix}, prices: [{input: ${price}, output: ${price}}]}`,
    ),
  )
  return {
    url,
    configuration: [
      'providers:',
      `  - {id: acme, name: Acme, baseUrl: '${url}', apiKeyVariable: ACME_API_KEY, dialects: [openai-chat, openai-responses]}`,
      'models:',
      ...models,
      '',
    ].join('\n'),
    get asked() {
      return asked
    },
    breakModel: (model) => void broken.add(model),
    reset() {
      asked = []
      broken.clear()
    },
    stop: () => void server.stop(true),
  }
}

function answerOf(model: string) {
  return {
    ...{ id: 'c', object: 'chat.completion', created: 1, model, usage: USAGE },
    choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  }
}

function responseOf(model: string) {
  const content = [{ type: 'output_text', text: 'x', annotations: [] }]
  return {
    ...{ id: 'r', object: 'response', created_at: 1, status: 'completed', model },
    output: [{ id: 'm', type: 'message', role: 'assistant', status: 'completed', content }],
    usage: { input_tokens: 1_000, output_tokens: 1_000, total_tokens: 2_000 },
  }
}

function streamOf(model: string): Response {
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model }
  const events = [
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'x' } }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { ...chunk, choices: [], usage: USAGE },
  ]
  const lines = [...events.map((event) => JSON.stringify(event)), '[DONE]']
  return new Response(lines.map((line) => `data: ${line}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  })
}
