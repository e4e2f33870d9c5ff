/**
 * Fits a decoded request to what its model accepts, between the caller's codec and the upstream's
 * (decision 0120). Knows neither dialects nor models.
 */

import type { RequestRules } from '../../core/request-rules.ts'
import type { ChatRequest, JsonRecord } from '../chat-request.ts'
import type { Feature } from '../codec.ts'
import type { Changes } from './changes.ts'
import { fitMessages } from './messages.ts'
import type { AnswerRestorer } from './restore-answers.ts'
import { fitSchemas } from './schemas.ts'
import { fitSettings } from './settings.ts'
import { fitToolNames } from './tool-names.ts'

export interface FittedRequest {
  readonly request: ChatRequest
  readonly ignored: readonly Feature[]
  readonly adapted: readonly Feature[]
  /** Undoes the changes in answers. Undefined: the answer needs no change. */
  readonly restore: AnswerRestorer | undefined
}

/** @throws GatewayError `invalid_request` when fitting would change the meaning of the request */
export function fit(request: ChatRequest, rules: RequestRules): FittedRequest {
  const ignored = new Set<Feature>()
  const adapted = new Set<Feature>()
  const { toolNames } = rules
  const nullable = new Map<string, JsonRecord>()
  const changes: Changes = { ignored, adapted, nullable, isFormatTool: false }
  let fitted = fitSettings(request, rules, changes)
  fitted = fitSchemas(fitted, rules, changes)
  fitted = fitMessages(fitted, rules, changes)
  const names = toolNames === undefined ? undefined : fitToolNames(fitted, toolNames)
  if (names !== undefined) {
    fitted = names.request
    adapted.add('tool.name')
  }
  return {
    request: fitted,
    ignored: [...ignored],
    adapted: [...adapted],
    restore:
      names === undefined && nullable.size === 0 && !changes.isFormatTool
        ? undefined
        : {
            originals: names?.originals ?? UNCHANGED,
            nullable,
            isFormatTool: changes.isFormatTool,
          },
  }
}

const UNCHANGED: ReadonlyMap<string, string> = new Map()
