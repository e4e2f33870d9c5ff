/**
 * A port of loopback for a server that must be told its port, and may be restarted on the same
 * port.
 */
import { createServer } from 'node:net'

/**
 * Below the ports that the system gives to connections (32768 and above), so that a restarted
 * server finds its port free. The nodes of a Redis cluster use a second port 10000 higher.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const isOurs = (await isFree(port)) && (await isFree(port + 10_000)) && (await reserve(port))
    if (isOurs) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** By an abstract socket name, which the system releases with the process. */
function reserve(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(true)
  return new Promise((resolve) => {
    const server = createServer().unref()
    server.once('error', () => resolve(false))
    server.listen(`\0gatehouse-test-port-${port}`, () => resolve(true))
  })
}
