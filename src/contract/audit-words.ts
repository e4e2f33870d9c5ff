/** The actions and resources of the audit log in words, for the dashboard. Loads no zod. */
import { type AuditedAction, RESOURCE_ENTRIES, type ResourceWord } from '../core/resource-table.ts'

export const ACTION_WORDS = Object.fromEntries(
  RESOURCE_ENTRIES.flatMap(([word, { actions }]) =>
    Object.entries(actions).map(([verb, said]) => [`${word}.${verb}`, said]),
  ),
) as Readonly<Record<AuditedAction, string>>

export const RESOURCE_WORDS = Object.fromEntries(
  RESOURCE_ENTRIES.map(([word, { label }]) => [word, label]),
) as Readonly<Record<ResourceWord, string>>
