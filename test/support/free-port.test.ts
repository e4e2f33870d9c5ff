import { afterEach, expect, mock, spyOn } from 'bun:test'
import { findFreePort } from './free-port.ts'
import { testIf } from './skip-unless.ts'

const isLinux = process.platform === 'linux'

afterEach(() => mock.restore())

testIf(isLinux, 'needs Linux')(
  'a port is given to one test process alone, though nothing listens at it yet',
  async () => {
    const other = Bun.spawn(
      [
        process.execPath,
        '-e',
        `import { findFreePort } from '${import.meta.dir}/free-port.ts'
      console.log(await findFreePort())
      setInterval(() => {}, 1_000)`,
      ],
      { stdout: 'pipe' },
    )
    const { value } = await other.stdout.getReader().read()
    const taken = Number(Buffer.from(value ?? []).toString())
    const drawn = (port: number) => (port - 20_000 + 0.5) / 12_000
    spyOn(Math, 'random')
      .mockReturnValueOnce(drawn(taken))
      .mockReturnValueOnce(drawn(taken + 1))
    expect(await findFreePort()).not.toBe(taken)
    other.kill()
    await other.exited
  },
)
