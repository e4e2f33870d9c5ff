/**
 * Every column that the vault has sealed: a rotation of the master key goes through them. A table that gets such a column
 * is added here, or its rows are lost with the old key. Knows no key.
 */
import { providerKeyBinding } from '../core/provider-key.ts'
import type { Schema } from './schema.ts'

export interface EncryptedColumn {
  readonly table: keyof Schema
  /** Null where there is nothing to seal. */
  readonly column: string
  /** The table's primary key. */
  readonly key: readonly string[]
  /** What a row is bound to, from its primary key's values. */
  readonly bindingOf: (values: readonly string[]) => string
}

export const ENCRYPTED_COLUMNS: readonly EncryptedColumn[] = [
  {
    table: 'provider_keys',
    column: 'sealed_key',
    key: ['account_id', 'provider'],
    bindingOf: ([account = '', provider = '']) => providerKeyBinding(account, provider),
  },
]
