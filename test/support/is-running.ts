/** Whether a process still runs, for tests that wait for its end. */
import { existsSync, readFileSync } from 'node:fs'

/**
 * An ended process that nobody has waited for (a zombie) still accepts signals; only Linux reports
 * that it has ended.
 */
export function isRunning(pid: number): boolean {
  return existsSync('/proc/self/stat') ? hasLiveState(pid) : takesSignals(pid)
}

function hasLiveState(pid: number): boolean {
  try {
    // The name before the state is in brackets, and may itself contain brackets.
    const [state] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')
    return state !== 'Z' && state !== 'X'
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as { code?: string }).code ?? '')) return false
    throw error
  }
}

function takesSignals(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM'
  }
}
