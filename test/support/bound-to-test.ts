/**
 * Starts a command whose process ends together with the test process, even after SIGKILL or Ctrl-C.
 */
import { spawnSync } from 'node:child_process'

const SETPRIV = process.platform === 'linux' ? Bun.which('setpriv') : null
const canBind =
  SETPRIV !== null &&
  spawnSync(SETPRIV, ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0

/**
 * util-linux's `setpriv` asks the kernel to send `signal` when the parent ends, and becomes the
 * command, so the pid is the command's own. Linux only.
 */
export function boundToTest(
  command: readonly string[],
  signal: 'KILL' | 'TERM' = 'KILL',
): string[] {
  return canBind && SETPRIV !== null ? [SETPRIV, '--pdeathsig', signal, ...command] : [...command]
}
