/**
 * Proxies in front of nodes: a balancer that asks each node whether it is ready, as a Service of
 * Kubernetes does, and an nginx that tries the next node after a failed connection.
 */
import { connect, createServer, type Socket } from 'node:net'
import { boundToTest } from './bound-to-test.ts'
import { findFreePort } from './free-port.ts'
import { findNginx } from './nginx.ts'
import { pollUntil } from './poll-until.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

export interface Balancer {
  readonly url: string
  whenSeen(nodes: number): Promise<void>
  remove(): Promise<void>
}

const ASK_EVERY_MS = 100

/** @param ports of nodes on this machine, which need not run yet */
export async function startReadinessBalancer(ports: readonly number[]): Promise<Balancer> {
  let ready: readonly number[] = []
  let isEnding = false
  let turn = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on('close', () => sockets.delete(client))
    client.on('error', () => client.destroy())
    const port = ready[turn++ % Math.max(1, ready.length)]
    if (port === undefined) return void client.destroy()
    const node = connect({ port, host: '127.0.0.1', noDelay: true })
    client.setNoDelay(true)
    // Passes on how a side ended, because a cut answer must look cut.
    node.on('error', () => client.resetAndDestroy())
    client.on('close', () => node.destroy())
    client.pipe(node).pipe(client)
  })
  const ask = async () => {
    while (!isEnding) {
      const found = await Promise.all(ports.map(isReady))
      ready = ports.filter((_, index) => found[index])
      await Bun.sleep(ASK_EVERY_MS)
    }
  }
  const asking = ask()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    whenSeen: async (nodes) => {
      await pollUntil('ready nodes', () => ready.length === nodes, { timeoutMs: 50_000 })
    },
    remove: async () => {
      isEnding = true
      await asking
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

async function isReady(port: number): Promise<boolean> {
  const headers = { connection: 'close' }
  const signal = AbortSignal.timeout(1_000)
  return await fetch(`http://127.0.0.1:${port}/readyz`, { headers, signal }).then(
    ({ status }) => status === 200,
    () => false,
  )
}

/** nginx keeps connections to nodes, and does not repeat a call that a node may have received. */
export async function startNginx(ports: readonly number[]): Promise<Balancer> {
  const program = findNginx()
  if (program === undefined) throw new Error('there is no nginx')
  const folder = await createTemporaryFolder()
  const port = await findFreePort()
  const configuration = `${folder.path}/nginx.conf`
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `  ${kind}_temp_path ${folder.path}/${kind};`)
    .join('\n')
  await Bun.write(
    configuration,
    `daemon off;
pid ${folder.path}/pid;
error_log ${folder.path}/error.log info;
worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
${paths}
  access_log off;
  upstream nodes {
${ports.map((each) => `    server 127.0.0.1:${each} max_fails=0;`).join('\n')}
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://nodes;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_next_upstream error timeout;
    }
  }
}
`,
  )
  const child = Bun.spawn(
    // nginx's workers end with their master only if the master can tell them to.
    boundToTest(
      [program, '-c', configuration, '-p', folder.path, '-e', `${folder.path}/error.log`],
      'TERM',
    ),
    {
      stdio: ['ignore', 'ignore', 'ignore'],
    },
  )
  const url = `http://127.0.0.1:${port}`
  const remove = async () => {
    child.kill('SIGTERM')
    await child.exited
    await folder.remove()
  }
  try {
    await pollUntil('nginx', async () => {
      if (child.exitCode !== null)
        throw new Error(`nginx ended: ${await Bun.file(`${folder.path}/error.log`).text()}`)
      return await fetch(url).then(
        () => true,
        () => false,
      )
    })
  } catch (error) {
    await remove()
    throw error
  }
  return { url, whenSeen: async () => {}, remove }
}
