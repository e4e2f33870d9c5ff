/**
 * A command whose process ends with the test process that starts it, however that ends: by SIGKILL,
 * after a bail, by Ctrl-C. Knows nothing of what the command does, and nothing of the processes
 * that it starts itself.
 */
import { spawnSync } from 'node:child_process'

const SETPRIV = process.platform === 'linux' ? Bun.which('setpriv') : null
const canBind =
  SETPRIV !== null &&
  spawnSync(SETPRIV, ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0

/**
 * The kernel sends `signal` when the parent is gone. It is asked to by util-linux's `setpriv`,
 * which becomes the command: the pid is the command's own. Elsewhere than on Linux the command
 * stays as it is.
 */
export function boundToTest(
  command: readonly string[],
  signal: 'KILL' | 'TERM' = 'KILL',
): string[] {
  return canBind && SETPRIV !== null ? [SETPRIV, '--pdeathsig', signal, ...command] : [...command]
}
