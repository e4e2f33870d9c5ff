/** A port of loopback for a server that must be told its port, and may be started on it again. */
import { createServer } from 'node:net'

/**
 * Below those that the system gives to connections (32768 and above): a server that is stopped and
 * started again finds its own still free, however many tests make connections meanwhile. A Redis
 * cluster's nodes talk 10000 above, so that is free too. No other test process gets it as long as
 * this one lives, not even while its server is stopped.
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

/** By a name that stands in no folder, and that the system gives up with the process. */
function reserve(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(true)
  return new Promise((resolve) => {
    const server = createServer().unref()
    server.once('error', () => resolve(false))
    server.listen(`\0gatehouse-test-port-${port}`, () => resolve(true))
  })
}
