/** What a raw upstream can do with a request: whole answers, streams, and ways of breaking off. */
import { chunk, LAST_CHUNK } from './http-bytes.ts'
import type { Exchange, Script } from './raw-upstream.ts'

type Headers = Readonly<Record<string, string>>

function headerLines(headers: Headers): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}

export function answerHead(status: number, headers: Headers): string {
  return `HTTP/1.1 ${status} Scripted\r\n${headerLines(headers)}\r\n`
}

export function bodyAnswer(
  status: number,
  body: string | Uint8Array,
  headers: Headers = {},
): Script {
  const bytes = Buffer.from(body)
  return async (exchange) => {
    await exchange.write(answerHead(status, { ...headers, 'content-length': String(bytes.length) }))
    if (bytes.length > 0) await exchange.write(bytes)
  }
}

export function jsonAnswer(status: number, body: unknown, headers: Headers = {}): Script {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return bodyAnswer(status, text, { 'content-type': 'application/json', ...headers })
}

export async function beginStream(exchange: Exchange, headers: Headers = {}): Promise<void> {
  await exchange.write(
    answerHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'transfer-encoding': 'chunked',
      ...headers,
    }),
  )
}

export interface StreamOptions {
  readonly headers?: Headers
  readonly ending?: 'end' | 'hang' | 'close' | 'reset'
  readonly pauseMs?: number
}

export function streamAnswer(
  pieces: readonly (string | Uint8Array)[],
  options: StreamOptions = {},
): Script {
  return async (exchange) => {
    await beginStream(exchange, options.headers)
    for (const piece of pieces) {
      await exchange.write(chunk(piece))
      if (options.pauseMs !== undefined) await Bun.sleep(options.pauseMs)
    }
    switch (options.ending ?? 'end') {
      case 'end':
        return exchange.write(LAST_CHUNK)
      case 'close':
      case 'reset':
        // The peer must have read the pieces by then, because a peer may drop unread bytes when a
        // connection breaks. The wait is a multiple of the needed time.
        await exchange.whenRead()
        await Bun.sleep(150)
        return options.ending === 'close' ? exchange.end() : exchange.reset()
      case 'hang':
        return
    }
  }
}

export const silence: Script = () => undefined

export const resetBeforeAnswer: Script = (exchange) => exchange.reset()
