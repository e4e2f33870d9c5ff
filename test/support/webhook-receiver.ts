/** A real HTTP server that receives webhooks, and checks their signatures by the documentation. */
import { createHmac } from 'node:crypto'

export interface ReceivedEvent {
  readonly id: string
  readonly type: string
  readonly createdAt: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface ReceivedDelivery {
  readonly deliveryId: string
  readonly eventName: string
  readonly isSigned: boolean
  readonly event: ReceivedEvent
}

export interface WebhookReceiver {
  readonly url: string
  readonly host: string
  readonly deliveries: ReceivedDelivery[]
  stop(): Promise<void>
}

export function startWebhookReceiver(secret: string): WebhookReceiver {
  const deliveries: ReceivedDelivery[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text()
      deliveries.push({
        deliveryId: request.headers.get('x-gatehouse-delivery') ?? '',
        eventName: request.headers.get('x-gatehouse-event') ?? '',
        isSigned: isSigned(body, request.headers.get('x-gatehouse-signature') ?? '', secret),
        event: JSON.parse(body) as ReceivedEvent,
      })
      return new Response(null, { status: 204 })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    host: `127.0.0.1:${server.port}`,
    deliveries,
    stop: () => server.stop(true),
  }
}

function isSigned(body: string, signature: string, secret: string): boolean {
  const [, seconds, mac] = /^t=(\d{10}),v1=([0-9a-f]{64})$/.exec(signature) ?? []
  return mac === createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
}
