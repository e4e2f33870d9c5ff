/** How much memory another process holds, as Linux counts it. */
import { readFile } from 'node:fs/promises'

export function residentBytes(pid: number): Promise<number> {
  return readStatus(pid, 'VmRSS')
}

export function mostResidentBytes(pid: number): Promise<number> {
  return readStatus(pid, 'VmHWM')
}

async function readStatus(pid: number, name: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
  if (kilobytes === undefined) throw new Error(`process ${pid} shows no ${name}`)
  return Number(kilobytes) * 1024
}
