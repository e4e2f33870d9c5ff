/** A customer's name server that never answers holds up nobody else's names. */
import { expect, setDefaultTimeout } from 'bun:test'
import { join, resolve } from 'node:path'
import { testIf } from '../support/skip-unless.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

/** An address of this machine, without a server. */
const NAME_SERVER = '127.0.0.77'
const canMount =
  process.platform === 'linux' &&
  Bun.which('unshare') !== null &&
  process.getuid?.() === 0 &&
  Bun.spawnSync(withNameServer('/dev/null', ['true'])).success

testIf(canMount, 'needs the permission to mount another resolv.conf')(
  'look-ups with a silent server delay no other look-up',
  async () => {
    const folder = await createTemporaryFolder()
    const file = join(folder.path, 'resolv.conf')
    await Bun.write(file, `nameserver ${NAME_SERVER}\noptions timeout:2 attempts:1\n`)
    const fixture = resolve(import.meta.dir, 'look-up-names.fixture.ts')
    const command = withNameServer(file, [process.execPath, fixture, NAME_SERVER, '30'])
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
    expect(await new Response(child.stdout).text()).toBe('localhost')
    await folder.remove()
  },
)

/** Seen by nobody else, and gone with the command. */
function withNameServer(file: string, command: readonly string[]): string[] {
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, file, ...command]
}
