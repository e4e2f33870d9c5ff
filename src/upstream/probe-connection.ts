/** Tells whether an address accepts connections at all. Sends nothing and reads nothing. */
import { connect } from 'node:net'

/** @returns whether a TCP connection was accepted within the time; never rejects. */
export function probeConnection(url: URL, timeoutMs: number): Promise<boolean> {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    const finish = (isAccepted: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(isAccepted)
    }
    const timer = setTimeout(() => finish(false), timeoutMs)
    socket.once('connect', () => finish(true))
    socket.once('error', () => finish(false))
  })
}
