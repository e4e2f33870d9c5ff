/** Runs deploy/nginx.conf, with other addresses, nodes and temporary files. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { boundToTest } from './bound-to-test.ts'
import { findFreePort } from './free-port.ts'
import { pollUntil, within } from './poll-until.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

const CONFIGURATION = resolve(import.meta.dir, '../../deploy/nginx.conf')
const NODES = /server node-\d+:4000/g

export interface Nginx {
  readonly url: string
  readonly folder: string
  log(): string
  remove(): Promise<void>
}

/**
 * GATEHOUSE_TEST_NGINX names the program; default: `nginx` of the `PATH` or of Debian's package.
 * @throws with `CI` set, when the program is missing
 */
export function findNginx(): string | undefined {
  const debian = '/usr/sbin/nginx'
  const found =
    process.env.GATEHOUSE_TEST_NGINX ??
    Bun.which('nginx') ??
    (existsSync(debian) ? debian : undefined)
  if (found === undefined && process.env.CI)
    throw new Error(
      "nginx is not here: install Debian's package nginx, or name it in GATEHOUSE_TEST_NGINX.",
    )
  return found
}

/** @param nodes `http://host:port` of each node in the file */
export async function startNginx(nodes: readonly string[]): Promise<Nginx> {
  const program = findNginx()
  if (program === undefined) throw new Error('there is no nginx')
  const folder = await createTemporaryFolder()
  // nginx's workers run as another user than root.
  const temporary = join(folder.path, 'temporary')
  mkdirSync(temporary)
  const port = await findFreePort()
  const hosts = nodes.map((url) => new URL(url).host)
  const log = join(folder.path, 'log')
  const text = replaceExactly(
    readFileSync(CONFIGURATION, 'utf8'),
    NODES,
    hosts.length,
    () => `server ${hosts.shift()}`,
  )
  const path = join(folder.path, 'nginx.conf')
  await Bun.write(
    path,
    replaceExactly(text, /listen 8080;/g, 1, () => `listen 127.0.0.1:${port};`)
      .replaceAll('/tmp/', `${temporary}/`)
      .replaceAll('/dev/stdout', log),
  )
  // nginx's workers end with their master only if the master can tell them to.
  const child = Bun.spawn(
    boundToTest([program, '-p', folder.path, '-c', path, '-g', 'daemon off;'], 'TERM'),
    {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    },
  )
  const errors = new Response(child.stderr).text()
  const url = `http://127.0.0.1:${port}`
  await pollUntil('nginx', async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${await errors}`)
    return await fetch(`${url}/metrics`).then(
      () => true,
      () => false,
    )
  })
  return {
    url,
    folder: temporary,
    log: () => readFileSync(log, 'utf8'),
    remove: async () => {
      child.kill('SIGQUIT')
      const late = setTimeout(() => child.kill('SIGTERM'), 2_000)
      await within(10_000, 'end of nginx', child.exited)
      clearTimeout(late)
      await folder.remove()
    },
  }
}

function replaceExactly(text: string, pattern: RegExp, times: number, by: () => string): string {
  const found = text.match(pattern)?.length ?? 0
  if (found !== times)
    throw new Error(`${pattern} is in deploy/nginx.conf ${found} times, not ${times}`)
  return text.replaceAll(pattern, by)
}
