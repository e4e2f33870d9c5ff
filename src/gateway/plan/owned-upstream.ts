/**
 * Makes of an owned model what the hot path uses: a provider of its own with one model. Once for
 * each change, not for each call.
 */
import { OWNED_PREFIX, type OwnedModel, toDeclaredPrices } from '../../core/owned-model.ts'
import { fimTemplateOf, ownedProvider } from '../../providers/owned.ts'
import type { OwnedUpstream, TargetCredential } from '../ports.ts'

export function toOwnedUpstream(
  model: OwnedModel,
  credential: TargetCredential | undefined,
): OwnedUpstream {
  const {
    slug,
    dialect,
    baseUrl,
    upstreamModelId,
    credentialHeader,
    fimEndpoint,
    fimTemplate,
    probe,
  } = model
  const found = probe?.found
  const declared = credentialHeader === 'auto' ? found?.credentialHeader : credentialHeader
  const server = {
    ...found,
    credentialHeader: declared,
    fimEndpoint: fimEndpoint === 'auto' ? found?.fimEndpoint : fimEndpoint,
    fimTemplate: fimTemplate === 'auto' ? fimTemplateOf(upstreamModelId) : fimTemplate,
  }
  return {
    slug,
    provider: ownedProvider(`${OWNED_PREFIX}/${slug}`, dialect, baseUrl, server),
    model: upstreamModelId,
    prices: toDeclaredPrices(model),
    credential,
  }
}
