/** Whether a process goes on, for tests that wait for its end. Knows nothing of what it runs. */
import { existsSync, readFileSync } from 'node:fs'

/**
 * One that has ended and that nobody has asked about yet (a zombie) still takes signals; only Linux
 * says of it that it has ended.
 */
export function isRunning(pid: number): boolean {
  return existsSync('/proc/self/stat') ? hasLiveState(pid) : takesSignals(pid)
}

function hasLiveState(pid: number): boolean {
  try {
    // The name before it is in brackets, and may itself have any in it.
    const [state] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')
    return state !== 'Z' && state !== 'X'
  } catch (error) {
    // ESRCH: it was there to be opened, and was gone when it was read.
    if (['ENOENT', 'ESRCH'].includes((error as { code?: string }).code ?? '')) return false
    throw error
  }
}

function takesSignals(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Of another user, but there.
    return (error as { code?: unknown }).code === 'EPERM'
  }
}
