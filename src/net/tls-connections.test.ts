import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect, createServer as createTcpServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import type { TlsQuestion } from '../../test/support/ask-over-tls.ts'
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts'
import {
  ADDRESS_CERTIFICATE,
  EXPIRED_CERTIFICATE,
  LOCALHOST_CERTIFICATE,
  OTHER_CERTIFICATE,
  type TestCertificate,
} from '../../test/support/tls-certificates.ts'

const servers: Server[] = []
const heard: string[] = []
let handshakes = 0
let resumed = 0
afterAll(() => {
  for (const server of servers) server.close()
})

async function listen(server: Server): Promise<number> {
  servers.push(server)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function serve(
  certificate: TestCertificate,
  answer = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi',
): Promise<number> {
  const server = createServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    handshakes += 1
    if (socket.isSessionReused()) resumed += 1
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      heard.push(`${socket.alpnProtocol} ${bytes}`)
      socket.end(answer)
    })
  })
  server.on('tlsClientError', () => undefined)
  return listen(server)
}

/** Accepts connections, then stays silent or closes in the middle of the handshake. */
const closeInHandshake = () =>
  listen(
    createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', () => socket.destroy())
    }),
  )

const tunnels: string[] = []
const tunnel = () =>
  listen(
    createTcpServer((client) => {
      client.on('error', () => undefined)
      client.once('data', (bytes) => {
        const [, host = '', port = ''] = /^CONNECT (\S+):(\d+) /.exec(`${bytes}`) ?? []
        tunnels.push(`${host}:${port}`)
        const upstream = connect(Number(port), host, () => {
          client.write('HTTP/1.1 200 Established\r\n\r\n')
          client.pipe(upstream).pipe(client)
        })
        upstream.on('error', () => client.destroy())
      })
    }),
  )

/** Trusts the authority of each certificate for tests, and the expired certificate. */
async function ask(
  questions: readonly TlsQuestion[],
  environment: Record<string, string> = {},
): Promise<string[]> {
  const folder = await createTemporaryFolder()
  const authorities = join(folder.path, 'authorities.pem')
  await Bun.write(
    authorities,
    [LOCALHOST_CERTIFICATE, OTHER_CERTIFICATE, ADDRESS_CERTIFICATE, EXPIRED_CERTIFICATE]
      .map(({ cert }) => cert)
      .join(''),
  )
  const program = join(import.meta.dirname, '../../test/support/ask-over-tls.ts')
  const child = Bun.spawn([process.execPath, program, JSON.stringify(questions)], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: authorities, ...environment },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const said = await new Response(child.stdout).text()
  await folder.remove()
  return JSON.parse(said)
}

let local: number
beforeAll(async () => {
  local = await serve(LOCALHOST_CERTIFICATE)
})

test('a server gets calls under the name in its certificate alone', async () => {
  const other = await serve(OTHER_CERTIFICATE)
  const expired = await serve(EXPIRED_CERTIFICATE)
  const closing = await closeInHandshake()
  const addresses = ['127.0.0.1']
  const said = await ask(
    [
      { url: `https://localhost:${local}/` },
      { url: `https://other.test:${other}/`, addresses },
      { url: `https://localhost:${other}/` },
      { url: `https://other.test:${local}/`, addresses },
      { url: `https://127.0.0.1:${local}/` },
      { url: `https://localhost:${expired}/` },
      { url: `https://localhost:${closing}/` },
    ],
    // No environment variable disables the check.
    { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  )
  const refused = expect.stringMatching(/^connect_failed: .*(altname|expired)/)
  const lost = expect.stringMatching(/^connect_failed: /)
  expect<unknown[]>(said).toEqual([...Array(4).fill('hi'), ...Array(8).fill(refused), lost, lost])
  expect(heard).toHaveLength(4)
  for (const each of heard) expect(each).toStartWith('http/1.1 POST / HTTP/1.1\r\nhost: ')
  // The second connection to a server resumes the first connection's session.
  expect({ handshakes, resumed }).toMatchObject({ resumed: 2 })
})

test('a server with an unknown authority gets no call', async () => {
  expect(await ask([{ url: `https://localhost:${local}/` }], { NODE_EXTRA_CA_CERTS: '' })).toEqual([
    'connect_failed: self signed certificate',
    'connect_failed: self signed certificate',
  ])
})

test('through a proxy, TLS is between the gateway and the upstream alone', async () => {
  const port = await tunnel()
  const proxied = {
    url: `https://other.test:${await serve(OTHER_CERTIFICATE)}/`,
    addresses: ['127.0.0.1'],
  }
  const wrong = { url: `https://other.test:${local}/`, addresses: ['127.0.0.1'] }
  const said = await ask([proxied, wrong], { HTTPS_PROXY: `http://127.0.0.1:${port}` })
  expect(said.slice(0, 2)).toEqual(['hi', 'hi'])
  for (const each of said.slice(2))
    expect(each).toStartWith('connect_failed: Hostname/IP does not match')
  expect(tunnels).toHaveLength(4)
  expect(tunnels[0]).toBe(`127.0.0.1:${proxied.url.split(':')[2]?.slice(0, -1)}`)
})

test('through a proxy, an upstream without a name has its address in its certificate', async () => {
  const served = await serve(ADDRESS_CERTIFICATE)
  const addresses = ['127.0.0.1']
  const before = heard.length
  const said = await ask(
    [
      { url: `https://192.0.2.1:${served}/`, addresses },
      { url: `https://[2001:db8::1]:${served}/`, addresses },
      { url: `https://192.0.2.2:${served}/`, addresses },
      // The certificate has the proxy's name.
      { url: `https://192.0.2.1:${local}/`, addresses },
    ],
    { HTTPS_PROXY: `http://localhost:${await tunnel()}` },
  )
  expect(said.slice(0, 4)).toEqual(['hi', 'hi', 'hi', 'hi'])
  for (const each of said.slice(4))
    expect(each).toStartWith('connect_failed: Hostname/IP does not match')
  expect(heard).toHaveLength(before + 4)
})

test('a proxy that is itself under TLS is refused with a message that names it', async () => {
  const proxy = await serve(LOCALHOST_CERTIFICATE)
  const before = heard.length
  const said = await ask([{ url: 'https://other.test/', addresses: ['127.0.0.1'] }], {
    HTTPS_PROXY: `https://localhost:${proxy}`,
  })
  expect(said[0]).toBe(
    'connect_failed: A proxy with an https:// address cannot be used for https upstreams.',
  )
  expect(heard).toHaveLength(before)
})
