/** A client on plain TCP: sends any bytes, reads at any speed, and sees how the answer ended. */
import { connect, type Socket } from 'node:net'
import { composeRequest, parseHeaders, type RequestParts, readBody } from './http-bytes.ts'
import { pollUntil } from './poll-until.ts'

export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly text: string
  readonly complete: boolean
}

export interface RawConnection {
  readonly socket: Socket
  received(): Buffer
  receivedBytes(): number
  answer(): RawAnswer
  readonly closed: boolean
  send(bytes: string | Uint8Array): void
  destroy(): void
}

export interface ConnectOptions {
  /** Only counts the received bytes, and reads no faster than this. */
  readonly readBytesPerSecond?: number
}

export async function connectRaw(
  url: string,
  options: ConnectOptions = {},
): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const kept = new GrowingBytes()
  let answer: RawAnswer | undefined
  let bytes = 0
  let closed = false
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    closed = true
  })
  socket.on('end', () => {
    closed = true
  })
  socket.on('data', (data) => {
    const buffer = data as Buffer
    bytes += buffer.length
    if (options.readBytesPerSecond === undefined) {
      kept.add(buffer)
      answer = undefined
    } else {
      socket.pause()
      setTimeout(() => socket.resume(), (buffer.length / options.readBytesPerSecond) * 1000)
    }
  })
  await new Promise<void>((connected, failed) => {
    socket.once('connect', connected)
    socket.once('error', failed)
  })
  return {
    socket,
    received: () => kept.all,
    receivedBytes: () => bytes,
    answer: () => (answer ??= readAnswer(kept.all)),
    get closed() {
      return closed
    },
    send: (data) => void socket.write(data),
    destroy: () => void socket.destroy(),
  }
}

/** What it has shown stays as it was: bytes are only put behind. */
class GrowingBytes {
  #space = Buffer.allocUnsafe(4096)
  #length = 0

  get all(): Buffer {
    return this.#space.subarray(0, this.#length)
  }

  add(bytes: Buffer): void {
    const length = this.#length + bytes.length
    if (length > this.#space.length) {
      const larger = Buffer.allocUnsafe(2 * length)
      this.#space.copy(larger, 0, 0, this.#length)
      this.#space = larger
    }
    bytes.copy(this.#space, this.#length)
    this.#length = length
  }
}

/** Sends a request and waits for the whole answer or the end of the connection. */
export async function sendRaw(
  url: string,
  request: RequestParts | Uint8Array | string,
): Promise<RawAnswer> {
  const connection = await connectRaw(url)
  try {
    if (typeof request === 'string' || request instanceof Uint8Array) {
      connection.send(request)
      return await finishedAnswer(connection)
    }
    connection.send(composeRequest(request))
    // The length in an answer to HEAD belongs to a body that is not sent.
    return request.method === 'HEAD'
      ? await answerHead(connection)
      : await finishedAnswer(connection)
  } finally {
    connection.destroy()
  }
}

async function answerHead(connection: RawConnection): Promise<RawAnswer> {
  await pollUntil(
    'the head of the answer',
    () => connection.received().includes('\r\n\r\n') || connection.closed,
  )
  return { ...connection.answer(), complete: true }
}

export function finishedAnswer(connection: RawConnection): Promise<RawAnswer> {
  return pollUntil(
    'the end of the answer',
    () => {
      // Read in this order, because the answer includes bytes that arrive with the end.
      const isClosed = connection.closed
      const answer = connection.answer()
      return answer.complete || isClosed ? answer : undefined
    },
    { intervalMs: 5, timeoutMs: 45_000 },
  )
}

function readAnswer(bytes: Buffer): RawAnswer {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) {
    return {
      status: 0,
      head: bytes.toString('latin1'),
      headers: {},
      body: Buffer.alloc(0),
      text: '',
      complete: false,
    }
  }
  const head = bytes.toString('latin1', 0, headEnd)
  const status = Number(head.split(' ')[1] ?? 0)
  if (status === 100) return readAnswer(bytes.subarray(headEnd + 4))
  const headers = parseHeaders(head)
  const body = readBody(headers, bytes.subarray(headEnd + 4), {
    emptyWithoutLength: status === 204,
  })
  return {
    status,
    head,
    headers,
    body: body.bytes,
    get text() {
      return body.bytes.toString()
    },
    complete: body.complete,
  }
}
