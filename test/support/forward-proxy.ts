/**
 * A small forward proxy: CONNECT tunnels, requests with absolute addresses, and its own table of
 * names.
 */
import { connect, createServer, type Socket } from 'node:net'

export interface ForwardProxy {
  readonly url: string
  readonly lines: string[]
  stop(): Promise<void>
}

/** @param names names that lead to this machine; other hosts are refused */
export async function startForwardProxy(names: readonly string[]): Promise<ForwardProxy> {
  const lines: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {}).on('close', () => sockets.delete(client))
    client.once('data', (first) => {
      const [line = ''] = first.toString('latin1').split('\r\n')
      lines.push(line)
      const [method, target = ''] = line.split(' ')
      const { hostname, port } = new URL(method === 'CONNECT' ? `http://${target}` : target)
      if (!names.includes(hostname)) {
        client.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
        return
      }
      const upstream = connect(Number(port || 80), '127.0.0.1', () => {
        if (method === 'CONNECT') client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        else upstream.write(first)
        client.pipe(upstream)
        upstream.pipe(client)
      })
      sockets.add(upstream)
      upstream.on('error', () => client.destroy()).on('close', () => sockets.delete(upstream))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    lines,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
