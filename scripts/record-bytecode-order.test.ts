/** A program that does not serve fails the build within the limit. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTemporaryFolder, type TemporaryFolder } from '../test/support/temporary-folder.ts'
import { recordBytecodeOrder } from './record-bytecode-order.ts'

let folder: TemporaryFolder
beforeAll(async () => {
  folder = await createTemporaryFolder()
})
afterAll(() => folder.remove())

test.each([
  ['hangs before it listens', 'exec sleep 600', 'the server did not start'],
  ['ends at once', 'exit 3', 'the server did not start'],
])('a program that %s', async (name, script, message) => {
  const program = join(folder.path, name.replaceAll(' ', '-'))
  writeFileSync(program, `#!/bin/sh\n${script}\n`)
  chmodSync(program, 0o755)
  const recording = recordBytecodeOrder(program, join(folder.path, 'order'), { limitMs: 300 })
  await expect(recording).rejects.toThrow(message)
})
