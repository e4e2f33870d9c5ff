/** How much memory another process holds, as Linux counts it. */
import { readFile } from 'node:fs/promises'

/** Resident set size in bytes. @throws when the process is gone or there is no /proc. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  if (kilobytes === undefined) throw new Error(`process ${pid} shows no resident set size`)
  return Number(kilobytes) * 1024
}
