import type { ChangeActor } from '../../core/audit.ts'
import type { AccountId, AuditId } from '../../core/ids.ts'
import type { AuditedAction } from '../../core/resource-table.ts'

export interface AuditLogTable {
  id: AuditId
  account_id: AccountId
  at: number
  actor_type: ChangeActor['type']
  actor_id: string
  actor_name: string | null
  action: AuditedAction
  resource_type: string
  resource_id: string
  /** JSON in the form of the API; null when the resource did not exist. */
  before_json: string | null
  /** JSON in the form of the API; null when the resource was deleted. */
  after_json: string | null
  request_id: string | null
  client_address: string | null
}
