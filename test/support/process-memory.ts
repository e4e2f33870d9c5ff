/** How much memory another process holds, as Linux counts it. */
import { readFile } from 'node:fs/promises'

/** Resident set size in bytes. @throws when the process is gone or there is no /proc. */
export function residentBytes(pid: number): Promise<number> {
  return readStatus(pid, 'VmRSS')
}

/** The most that it has held since it started, in bytes. @throws as above */
export function mostResidentBytes(pid: number): Promise<number> {
  return readStatus(pid, 'VmHWM')
}

async function readStatus(pid: number, name: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
  if (kilobytes === undefined) throw new Error(`process ${pid} shows no ${name}`)
  return Number(kilobytes) * 1024
}
