/** The refusals for a gate whose targets cannot be asked. */
import { GatewayError, invalidRequest } from '../../core/errors.ts'
import { type Gate, listedNamesOf } from '../../core/gate.ts'
import { didYouMean } from '../../core/nearest-name.ts'
import { ownedSlugOf } from '../../core/owned-model.ts'
import { catalog } from '../../providers/catalog.ts'
import { addressVariablesOf, keyVariableOf, type Provider } from '../../providers/define.ts'
import type { AcceptedRequest, Dialect } from '../../wire/dialect.ts'
import { gateMember } from '../find-gate.ts'

export function noCredential(
  providers: readonly Pick<Provider, 'id' | 'name' | 'keyVariable'>[],
): GatewayError {
  const owned = providers.find(({ id }) => ownedSlugOf(id) !== undefined)
  if (owned !== undefined)
    return new GatewayError(
      'provider_auth_failed',
      `The stored credential of ${owned.id} cannot be decrypted. Set a new one, or start the gateway with the master key that encrypted it.`,
    )
  const names = listed(providers.map(({ name }) => name))
  const variables = listed(providers.map(keyVariableOf))
  return new GatewayError(
    'provider_auth_failed',
    `No credential is configured for ${names}: the operator has to set ${variables}, or the account ` +
      `a key of its own (PUT /v1/provider-keys/${providers[0]?.id}).`,
  )
}

function listed(words: readonly string[]): string {
  return [...new Set(words)].join(' or ')
}

export function noAddress(providerIds: readonly string[]): GatewayError {
  return new GatewayError(
    'provider_auth_failed',
    `No address is configured for ${providerIds.join(' or ')}: the operator has to ${toCure(providerIds)}.`,
    { code: 'provider_not_configured' },
  )
}

function toCure(providerIds: readonly string[]): string {
  const known = catalog.filter(({ id }) => providerIds.includes(id))
  const variables = known.map((provider) => addressVariablesOf(provider).join(' and '))
  return variables.length === 0 ? 'configure an address' : `set ${variables.join(' or ')}`
}

export function describeUnreachable(target: string): string {
  const provider = catalog.find(({ id }) => id === target.slice(0, target.indexOf('/')))
  return provider === undefined
    ? `The provider of ${target} is unknown to this gateway, or has no address.`
    : noAddress([provider.id]).message
}

export function gateNotFound(
  request: AcceptedRequest,
  gates: readonly Gate[],
  reach: string,
): GatewayError {
  const { gateId } = request
  const names = gates.flatMap(listedNamesOf)
  return new GatewayError(
    'gate_not_found',
    `There is no gate '${shorten(gateId)}' ${reach}.${didYouMean(gateId, names)} List the gates with GET /v1/models.`,
    { param: gateMember(request) },
  )
}

export function wrongDialect(
  gate: Gate,
  dialect: Dialect,
  request: AcceptedRequest,
  suitable: readonly string[],
): GatewayError {
  const targets = gate.targets.map((target) => target.model).join(', ')
  const elsewhere =
    dialect.id === 'openai-responses'
      ? ' Cross-provider routing is done through /v1/chat/completions.'
      : ''
  return invalidRequest(
    `The gate '${gate.id}' resolves to ${targets}, which does not speak the format of this endpoint (${dialect.id}).` +
      `${elsewhere} ${describeSuitable(suitable)}`,
    gateMember(request),
    'provider_mismatch',
  )
}

export function wrongModel(dialect: Dialect): GatewayError {
  return invalidRequest(
    `'model' names a target that does not speak the format of this endpoint (${dialect.id}).`,
    'model',
    'provider_mismatch',
  )
}

/**
 * A client with one dialect cannot use another endpoint, so the message suggests another gate or
 * another target.
 */
function describeSuitable(suitable: readonly string[]): string {
  const known = suitable.length === 0 ? '' : ` (${suitable.slice(0, MAX_SUITABLE).join(', ')})`
  return `This endpoint needs a gate with a target that speaks this format${known}, or with an owned model that does.`
}

const MAX_SUITABLE = 8

/** A caller may send any text as a gate's id, so the message repeats only a part. */
function shorten(text: string): string {
  return text.length <= 64 ? text : `${text.slice(0, 64)}…`
}
