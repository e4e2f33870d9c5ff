/**
 * The processor time that another process has cost, by Linux's own count. How long it took would
 * depend on who else runs.
 */
import { readFile } from 'node:fs/promises'

/**
 * In user and system mode together, in ticks of ten milliseconds (proc(5)).
 * @throws when the process is gone
 */
export async function processorTicks(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in brackets, and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
