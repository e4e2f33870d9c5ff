/** Converts an owned model to a provider with one model, once per change of the owned model. */
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
