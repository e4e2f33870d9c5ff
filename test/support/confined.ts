/**
 * Runs a command as a container would: as a user without a name, without capabilities, with one
 * writable folder. Needs Linux and root.
 */
import { spawnSync } from 'node:child_process'

/** A user and a group that have no entry anywhere. */
export const STRANGER = 34_567

/**
 * For `sh -c SCRIPT sh FOLDER COMMAND…`: makes every mount read-only in its own namespace, except a
 * folder on its own mount.
 */
const SCRIPT = `
  set -e
  folder=$1
  shift
  mount --bind "$folder" "$folder"
  while read -r _ place kind flags _; do
    case $place in "$folder" | /proc | /proc/* | /sys | /sys/* | /dev | /dev/*) continue ;; esac
    case ,$flags, in *,ro,*) continue ;; esac
    mount -o remount,bind,ro "$place"
  done < /proc/self/mounts
  # As in a container; and the folder it was started in is on the mount from before.
  cd /
  # A process that becomes another user would outlive the test again.
  exec setpriv --pdeathsig KILL --reuid ${STRANGER} --regid ${STRANGER} --clear-groups --no-new-privs --bounding-set -all "$@"`

/** @param writableFolder absolute, without spaces, writable for everybody */
export function confine(writableFolder: string, command: readonly string[]): string[] {
  const isolated = ['unshare', '--mount', '--propagation', 'private']
  return [...isolated, 'sh', '-c', SCRIPT, 'sh', writableFolder, ...command]
}

/** @throws with `CI` set, on Linux and as root, when confining fails */
export function canConfine(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const [program = '', ...rest] = confine('/var/tmp', ['true'])
  const { status, stderr } = spawnSync(program, rest)
  if (status !== 0 && process.env.CI)
    throw new Error(`nothing can be confined here: ${String(stderr)}`)
  return status === 0
}
