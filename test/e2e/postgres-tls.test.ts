/**
 * The connection to Postgres keeps the promises of `sslmode`, whose modes mean the same as in
 * libpq.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { examine, found } from '../support/examine.ts'
import { findPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { LOCALHOST_CERTIFICATE, OTHER_CERTIFICATE } from '../support/tls-certificates.ts'

setDefaultTimeout(180_000)

describeIf(findPostgres() !== undefined, 'needs Postgres')('a connection to Postgres', () => {
  let folder: TemporaryFolder
  let postgres: PostgresServer
  let right: string
  let other: string
  beforeAll(async () => {
    folder = await createTemporaryFolder()
    right = join(folder.path, 'right.crt')
    other = join(folder.path, 'other.crt')
    await Bun.write(right, LOCALHOST_CERTIFICATE.cert)
    await Bun.write(other, OTHER_CERTIFICATE.cert)
    postgres = await startPostgres({ certificate: LOCALHOST_CERTIFICATE })
  })
  afterAll(async () => {
    await postgres.remove()
    await folder.remove()
  })

  async function connect(
    host: string,
    parameters: Readonly<Record<string, string>>,
  ): Promise<string> {
    const url = new URL(postgres.urlOf('postgres'))
    url.hostname = host
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    const examined = await examine({ DATABASE_URL: url.href, GATEHOUSE_DATA_DIR: folder.path })
    const failed = found(examined, 'database', 'fail')
    return failed === '' ? found(examined, 'database', 'ok') : failed
  }

  test('is not encrypted by default', async () => {
    expect(await connect('localhost', {})).toContain('not encrypted')
    expect(await connect('localhost', { sslmode: 'disable' })).toContain('not encrypted')
  })

  test('require: encrypted to any server; with a certificate named, only to its owner', async () => {
    expect(await connect('127.0.0.1', { sslmode: 'require' })).toContain(', encrypted')
    expect(await connect('127.0.0.1', { sslmode: 'require', sslrootcert: right })).toContain(
      ', encrypted',
    )
    expect(await connect('127.0.0.1', { sslmode: 'require', sslrootcert: other })).toContain(
      'cannot be used',
    )
  })

  test('verify-ca: any name of the host', async () => {
    expect(await connect('127.0.0.1', { sslmode: 'verify-ca', sslrootcert: right })).toContain(
      ', encrypted',
    )
    expect(await connect('localhost', { sslmode: 'verify-ca', sslrootcert: other })).toContain(
      'cannot be used',
    )
  })

  test('verify-full: only the host in the certificate', async () => {
    expect(await connect('localhost', { sslmode: 'verify-full', sslrootcert: right })).toContain(
      ', encrypted',
    )
    expect(await connect('127.0.0.1', { sslmode: 'verify-full', sslrootcert: right })).toContain(
      'cannot be used',
    )
    expect(await connect('localhost', { sslmode: 'verify-full' })).toContain('cannot be used')
  })
})
