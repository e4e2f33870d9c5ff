import { expect, test } from 'bun:test'
import { join } from 'node:path'

test('what a scan finds and refuses is the same without wide instructions', async () => {
  const child = Bun.spawn(
    [
      ...[process.execPath, 'test', '--timeout=60000', '--preload', './plain-walk.fixture.ts'],
      ...['json-windows.test.ts', 'json-scan.test.ts', 'member-names.test.ts'],
    ],
    { cwd: join(import.meta.dir), stdout: 'ignore', stderr: 'pipe' },
  )
  const [output, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited])
  expect({ exitCode, output }).toEqual({
    exitCode: 0,
    output: expect.stringMatching(/\d\d pass\n/),
  })
})
