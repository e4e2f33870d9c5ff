import { expect } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { isRunning } from './is-running.ts'
import { pollUntil } from './poll-until.ts'
import { testIf } from './skip-unless.ts'

testIf(existsSync('/proc/self/stat'), 'needs Linux, which tells of zombies')(
  'a process that has ended has ended, whether or not anybody asks about it',
  async () => {
    const parent = Bun.spawn(['bash', '-c', '(read) <&0 & echo $!; exec sleep 600'], {
      stdin: 'pipe',
      stdout: 'pipe',
    })
    try {
      const { value } = await parent.stdout.getReader().read()
      const child = Number(new TextDecoder().decode(value))
      expect(isRunning(child)).toBe(true)
      expect(isRunning(parent.pid)).toBe(true)
      await pollUntil('another program in the place of the shell', () =>
        readFileSync(`/proc/${parent.pid}/stat`, 'utf8').includes('(sleep)'),
      )
      await parent.stdin.end()
      await pollUntil('the end of the child', () => !isRunning(child))
      process.kill(child, 0)
    } finally {
      parent.kill('SIGKILL')
      await parent.exited
    }
    expect(isRunning(parent.pid)).toBe(false)
  },
)
