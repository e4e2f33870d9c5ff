/**
 * The environment and the runtime: settings that are misspelt or careless, and limits that are low.
 */
import { SETTINGS, unknownVariables } from '../config/setting-table.ts'
import type { Environment } from '../config/setting-type.ts'
import type { Finding } from '../core/finding.ts'
import { nearestName } from '../core/nearest-name.ts'
import { findingsOf } from './finding.ts'

const ofVariables = findingsOf('variables')
const ofRuntime = findingsOf('runtime')
const FEW_FILES = 4_096

export function checkVariables(environment: Environment): Finding[] {
  const findings = unknownVariables(environment).map((name): Finding => {
    const meant = nearestName(name, Object.keys(SETTINGS))
    return ofVariables.warn(
      `${name} is no setting, and nothing reads it`,
      meant === undefined
        ? 'Unset it; gatehouse serve --help lists them all'
        : `Did you mean ${meant}?`,
    )
  })
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    findings.push(
      ofVariables.warn(
        'NODE_TLS_REJECT_UNAUTHORIZED is 0: anybody on the way can pose as a ' +
          'provider and read its key',
        'Unset it; give a certificate of your own with NODE_EXTRA_CA_CERTS',
      ),
    )
  if (findings.length > 0) return findings
  return [ofVariables.ok('no GATEHOUSE_* variable is misspelt')]
}

/** @param openFiles how many this process may have open; undefined where the system does not say */
export function checkRuntime(runtime: {
  readonly version: string
  readonly pinnedVersion: string
  readonly openFiles: number | undefined
}): Finding[] {
  const { version, pinnedVersion, openFiles } = runtime
  const findings: Finding[] = [
    version === pinnedVersion
      ? ofRuntime.ok(`Bun ${version}`)
      : ofRuntime.warn(
          `this is Bun ${version}; Gatehouse is tested with ${pinnedVersion}`,
          'Run it with node_modules/.bin/bun, which npm ci installs',
        ),
  ]
  if (openFiles !== undefined && openFiles < FEW_FILES)
    findings.push(
      ofRuntime.warn(
        `this process may have ${openFiles} files open, and a call needs two`,
        'Raise it: ulimit -n 65536, or LimitNOFILE=65536 in the systemd unit',
      ),
    )
  return findings
}
