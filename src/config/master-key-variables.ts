/** Master keys that the operator sets in the environment. No message repeats a key. */
import { Secret } from '../core/secret.ts'
import { readGiven } from './read-setting.ts'
import type { Environment } from './setting-type.ts'

export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

export interface MasterKeyVariables {
  /** `GATEHOUSE_MASTER_KEY`; undefined when the key is in the data folder's file. */
  readonly current: Secret | undefined
  /** `GATEHOUSE_MASTER_KEY_PREVIOUS`: keys that only decrypt. */
  readonly previous: readonly Secret[]
}

export function readMasterKeyVariables(environment: Environment): MasterKeyVariables {
  const read = (name: 'GATEHOUSE_MASTER_KEY' | 'GATEHOUSE_MASTER_KEY_PREVIOUS') =>
    (readGiven(environment, name)?.reveal() ?? '')
      .split(',')
      .map((text) => text.trim())
      .filter((text) => text !== '')
      .map((text) => toMasterKey(text, name))
  const [current, ...others] = read('GATEHOUSE_MASTER_KEY')
  if (others.length > 0) {
    throw new MasterKeyError(
      'GATEHOUSE_MASTER_KEY must contain one key; older ones belong in ' +
        'GATEHOUSE_MASTER_KEY_PREVIOUS.',
    )
  }
  return { current, previous: read('GATEHOUSE_MASTER_KEY_PREVIOUS') }
}

const HEXADECIMAL = /^[0-9a-f]{64}$/i
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/

export function toMasterKey(text: string, where: string): Secret {
  if (!HEXADECIMAL.test(text) && !BASE64.test(text)) {
    throw new MasterKeyError(
      `${where} must be 32 bytes, as 64 hexadecimal characters or as base64. Make a key ` +
        'with: openssl rand -hex 32',
    )
  }
  return new Secret(text)
}
