/** The processor time of another process, which does not depend on the load of the machine. */
import { readFile } from 'node:fs/promises'

/**
 * In user and system mode together, in ticks of ten milliseconds (proc(5)).
 * @throws when the process is gone
 */
export async function processorTicks(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in brackets, and may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
