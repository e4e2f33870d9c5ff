/**
 * Whether all nodes have the same configuration file in force, as a server's `/readyz` and the
 * nodes' rows in Postgres tell.
 */
import type { Finding } from '../core/finding.ts'
import type { NodeWithSettings } from '../store/changes/change-feed.ts'
import { findingsOf } from './finding.ts'

const SAME_FILE = 'Give every node the same file, then: gatehouse reload'
/** Enough to compare by eye. */
const DIGEST_CHARACTERS = 12

/** @param checks of `/readyz`; another version may have other members */
export function checkConfiguration(checks: Readonly<Record<string, unknown>>): Finding[] {
  const { warn } = findingsOf('settings')
  const { status, otherNodes, differing } = Object(checks.configuration)
  if (status === 'refused')
    return [
      warn(
        'the server refused its configuration file at the last reload, and keeps its settings',
        'Run gatehouse reload, which names every fault with its line, and correct the file',
      ),
    ]
  if (status !== 'differs') return []
  return [
    warn(`${differing} of ${otherNodes} other nodes have another configuration file`, SAME_FILE),
  ]
}

export function checkDigests(nodes: readonly NodeWithSettings[]): Finding[] {
  const hosts = new Map<string, Set<string>>()
  for (const { host, configuration } of nodes) {
    if (configuration === undefined) continue
    const name = configuration.digest?.slice(0, DIGEST_CHARACTERS) ?? 'no file'
    hosts.set(name, (hosts.get(name) ?? new Set()).add(host))
  }
  if (hosts.size < 2) return []
  const files = [...hosts].map(([name, where]) => `${name} (${[...where].join(', ')})`)
  return [
    findingsOf('nodes').warn(`the configuration files differ: ${files.join('; ')}`, SAME_FILE),
  ]
}
