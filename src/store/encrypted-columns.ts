/**
 * Every column that the vault encrypts. A new encrypted column must be added here; otherwise a
 * rotation of the master key loses its rows.
 */
import { hashKeyBinding } from '../core/attribution.ts'
import type { AccountId } from '../core/ids.ts'
import { ownedModelBinding } from '../core/owned-model.ts'
import { providerKeyBinding } from '../core/provider-key.ts'
import { secretBinding } from '../core/webhook.ts'
import type { Schema } from './schema.ts'

export interface EncryptedColumn {
  readonly table: keyof Schema
  readonly column: string
  /** Identifies a row: the table's primary key, and the account if the binding needs it. */
  readonly key: readonly string[]
  readonly bindingOf: (values: readonly string[]) => string
}

export const ENCRYPTED_COLUMNS: readonly EncryptedColumn[] = [
  {
    table: 'provider_keys',
    column: 'sealed_key',
    key: ['account_id', 'provider'],
    bindingOf: ([account = '', provider = '']) => providerKeyBinding(account, provider),
  },
  {
    table: 'webhooks',
    column: 'sealed_secret',
    key: ['account_id', 'id'],
    bindingOf: ([account = '', id = '']) => secretBinding({ accountId: account as AccountId, id }),
  },
  {
    table: 'owned_models',
    column: 'sealed_credential',
    key: ['account_id', 'slug'],
    bindingOf: ([account = '', slug = '']) => ownedModelBinding(account, slug),
  },
  {
    table: 'attribution',
    column: 'sealed_hash_key',
    key: ['account_id'],
    bindingOf: ([account = '']) => hashKeyBinding(account as AccountId),
  },
]
