/** How Linux schedules the threads of the program that serves. */
import { expect, setDefaultTimeout } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { testIf } from '../support/skip-unless.ts'
import { startGatehouse } from '../support/start-gatehouse.ts'
import { untilItHolds } from '../support/until-it-holds.ts'

setDefaultTimeout(120_000)

function nicenessOfThreads(
  pid: number,
): readonly { readonly name: string; readonly nice: number }[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    const end = stat.lastIndexOf(')')
    // The nineteenth field; a name may hold spaces (proc_pid_stat(5)).
    const nice = Number(stat.slice(end + 2).split(' ')[16])
    return { name: stat.slice(stat.indexOf('(') + 1, end), nice }
  })
}

testIf(process.platform === 'linux', 'needs Linux')(
  'compilers yield to calls, and no other thread does',
  async () => {
    const gatehouse = await startGatehouse()
    try {
      await untilItHolds(async () => {
        const threads = nicenessOfThreads(gatehouse.pid)
        const own = Math.min(...threads.map(({ nice }) => nice))
        const compilers = threads.filter(({ name }) => name === 'JITWorker')
        expect(compilers.length).toBeGreaterThan(0)
        for (const { nice } of compilers) expect(nice).toBe(Math.min(19, own + 5))
        const others = threads.filter(({ name }) => name !== 'JITWorker')
        expect(others.every(({ nice }) => nice === own)).toBe(true)
      })
    } finally {
      await gatehouse.remove()
    }
  },
)
