/** The runtime verifies certificates against the requested name, not the pinned address. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:tls'
import { LOCALHOST_CERTIFICATE, OTHER_CERTIFICATE } from '../../test/support/tls-certificates.ts'

let server: Server
let url: string
let requests = 0
let connections = 0
beforeAll(async () => {
  server = createServer({ ...LOCALHOST_CERTIFICATE }, (socket) => {
    connections += 1
    socket.on('error', () => undefined)
    socket.on('data', () => {
      requests += 1
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  url = `https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
})
afterAll(() => void server.close())

const ca = LOCALHOST_CERTIFICATE.cert + OTHER_CERTIFICATE.cert
const ask = async (serverName?: string) =>
  (await fetch(url, { tls: { ca, ...(serverName === undefined ? {} : { serverName }) } })).text()

test('an open connection made for one name is never used for another, though the address is the same', async () => {
  expect(await ask('localhost')).toBe('{}')
  expect(await ask('localhost')).toBe('{}')
  expect({ requests, connections }).toEqual({ requests: 2, connections: 1 })
  await expect(ask('other.test')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  await expect(ask()).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  expect(requests).toBe(2)
})
