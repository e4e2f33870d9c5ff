/**
 * Refuses what an owned model's registration cannot mean about filling in the middle. Knows nothing
 * of HTTP.
 */
import type { OwnedModel } from '../../core/owned-model.ts'
import { fimTemplateOf } from '../../providers/fim-templates.ts'
import { refuse } from '../refusals.ts'

const DIALECT = 'mistral-fim'

/** @throws GatewayError `invalid_request` naming the field */
export function assertFimFits(
  model: Pick<OwnedModel, 'dialect' | 'upstreamModelId' | 'fimEndpoint' | 'fimTemplate'>,
): void {
  const { dialect, upstreamModelId, fimEndpoint, fimTemplate } = model
  if (dialect !== DIALECT) {
    const set = (['fimEndpoint', 'fimTemplate'] as const).filter((field) => model[field] !== 'auto')
    if (set.length === 0) return
    throw refuse(
      set.map((field) => ({ field, message: `is for models of the dialect ${DIALECT} alone` })),
    )
  }
  if (fimEndpoint !== 'completions-template' || fimTemplate !== 'auto') return
  if (fimTemplateOf(upstreamModelId) !== undefined) return
  const message = 'is needed: the name of this model does not tell whose tokens it takes'
  throw refuse([{ field: 'fimTemplate', message }])
}
