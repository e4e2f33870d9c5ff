/**
 * docs/guides/tour.md, pasted block by block into a shell beside a fresh server, as a new user
 * would; only ports are the test's. What the guide says that a block prints must be what it prints.
 */
import { expect } from 'bun:test'
import { resolve } from 'node:path'
import { pollUntil, within } from '../support/poll-until.ts'
import { testIf } from '../support/skip-unless.ts'
import { startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

const REPOSITORY = resolve(import.meta.dir, '../..')
const STAND_IN = '4010'
const BLOCK_TIME_MS = 60_000
const TRIES = 10

interface Block {
  readonly commands: string
  /** Lines that the guide shows below it; none where it prints nothing. */
  readonly shown: readonly string[]
}

async function readBlocks(): Promise<readonly Block[]> {
  const guide = await Bun.file(`${REPOSITORY}/docs/guides/tour.md`).text()
  const fences = Array.from(
    guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm),
    ([, language, text = '']) => ({
      language,
      text,
    }),
  )
  return fences.flatMap(({ language, text }, index) => {
    if (language !== 'sh') return []
    const next = fences[index + 1]
    const lines = next?.language === 'text' ? next.text.split('\n') : []
    return [{ commands: text, shown: lines.filter((line) => !/^(…|\s*)$/.test(line)) }]
  })
}

/** Parts that differ each time match anything: `…`, moments, durations, widths of columns. */
function toPattern(line: string): RegExp {
  const exact = line.trim().replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  const loose = exact
    .replaceAll('…', '.*')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d')
    .replaceAll(/\d+ ms/g, '\\d+ ms')
    .replaceAll(/\d+\\\.\d\d s\b/g, '\\d+\\.\\d\\d s')
    .replaceAll(/("(?:after|duration)Ms": )\d+/g, '$1\\d+')
    .replace(/^(\S+ +ok +)\d+/, '$1\\d+')
    .replaceAll(/ +/g, ' +')
  return new RegExp(`^ *${loose}$`)
}

/**
 * The shown lines that are not among the printed ones; each printed line stands for one shown line.
 */
function findMissing(shown: readonly string[], printed: string): readonly string[] {
  const left = printed.split('\n')
  return shown.filter((line) => {
    const pattern = toPattern(line)
    const index = left.findIndex((candidate) => pattern.test(candidate.trimEnd()))
    if (index < 0) return true
    left.splice(index, 1)
    return false
  })
}

/**
 * A shell that reads what is pasted: a command that reads standard input would swallow what follows
 * it.
 */
function openShell(folder: string) {
  const child = Bun.spawn(['bash', '--noprofile', '--norc'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, TZ: 'UTC' },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let output = ''
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) output += decoder.decode(chunk, { stream: true })
  })()
  let pasted = 0
  const paste = async (text: string): Promise<string> => {
    pasted += 1
    const mark = `end of block ${pasted}`
    const before = output.length
    child.stdin.write(`${text}\necho "${mark}"\n`)
    child.stdin.flush()
    await pollUntil(`the end of: ${text}`, () => output.includes(`${mark}\n`, before), {
      timeoutMs: BLOCK_TIME_MS,
    })
    return output.slice(before, output.indexOf(`${mark}\n`, before))
  }
  const close = async () => {
    child.stdin.write('kill $(jobs -p) 2> /dev/null\nexit\n')
    child.stdin.end()
    await within(BLOCK_TIME_MS, 'end of the shell', child.exited)
    await reading
  }
  return { paste, close }
}

function findFreePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

/** The guide's reader has it. */
const isCurlMissing = Bun.which('curl') === null && !process.env.CI

testIf(!isCurlMissing, 'needs curl')(
  'every block of the tour prints the output in the guide',
  async () => {
    const [start, ...blocks] = await readBlocks()
    expect(blocks.length).toBeGreaterThan(10)
    const port = String(findFreePort())
    const withPort = (text: string) => text.replaceAll(STAND_IN, port)
    const [, trustedHosts] =
      /^GATEHOUSE_TRUSTED_HOSTS=(\S+) make run$/m.exec(start?.commands ?? '') ?? []
    const gatehouse = await startGatehouse({
      sandbox: true,
      environment: {
        GATEHOUSE_TRUSTED_HOSTS: withPort(trustedHosts ?? ''),
        GATEHOUSE_BOOTSTRAP_KEY: '',
      },
    })
    const folder = await createTemporaryFolder()
    const shell = openShell(folder.path)
    try {
      const welcome = gatehouse.output().replaceAll(gatehouse.url, 'http://127.0.0.1:4000')
      // A program with everything inside is no checkout, and prints no line for the path.
      const shown = start?.shown.filter((line) => !line.includes('export PATH=')) ?? []
      expect(findMissing(shown, welcome)).toEqual([])
      const [settings = ''] = /export GATEHOUSE_URL=.*/.exec(gatehouse.output()) ?? []
      await shell.paste(`exec 2>&1\n${settings}\nexport PATH='${REPOSITORY}/bin':$PATH`)
      for (const { commands, shown } of blocks) {
        const expected = shown.map(withPort)
        let printed = await shell.paste(withPort(commands))
        // The guide waits for the log by sleeping; a busy machine may need longer, and such blocks
        // only read.
        for (let tries = 1; commands.startsWith('sleep') && tries < TRIES; tries += 1) {
          if (findMissing(expected, printed).length === 0) break
          printed = await shell.paste(withPort(commands))
        }
        if (findMissing(expected, printed).length > 0 || (expected.length === 0 && printed !== ''))
          expect(`${commands}${printed}`).toBe(`${commands}${expected.join('\n')}`)
      }
      expect(
        await shell.paste(
          'gatehouse gates list; gatehouse owned-models list; gatehouse budgets list; ls',
        ),
      ).not.toMatch(/assistant|house|bud_|calls/)
    } finally {
      await shell.close()
      await gatehouse.remove()
      await folder.remove()
    }
  },
  600_000,
)
