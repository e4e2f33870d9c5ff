/**
 * Finds the parts of a request that cost more than text at list price: service tiers, speech,
 * pictures, and tools that the provider runs.
 */
import {
  type CountedTool,
  NO_USES,
  type OtherPrice,
  type ToolKind,
  type ToolUses,
} from '../core/cost.ts'
import { type Dialect, isRelayed } from '../wire/dialect.ts'
import type { JsonObject } from '../wire/json-splice.ts'
import { kindOfTool } from '../wire/tool-uses.ts'
import { USUAL_TIERS } from '../wire/usage.ts'
import { findTools, HOSTED_TOOLS, TOOLS } from './shared-credential.ts'

interface PricingMember {
  readonly name: string
  readonly usual: ReadonlySet<unknown>
  readonly chooses: OtherPrice
}

const PRICING_MEMBERS: readonly PricingMember[] = [
  { name: 'service_tier', usual: new Set(['auto', ...USUAL_TIERS]), chooses: 'tier' },
  // https://platform.claude.com/docs/en/build-with-claude/fast-mode
  { name: 'speed', usual: new Set(['standard']), chooses: 'speed' },
  // https://platform.claude.com/docs/en/build-with-claude/data-residency
  { name: 'inference_geo', usual: new Set(['global']), chooses: 'region' },
]
const CHEAPER = new Set<unknown>(['flex', 'batch'])
/** Members that make a provider search. No dialect reports how often. */
const HOSTED_MEMBERS = ['web_search_options', 'search_parameters', 'plugins']
/** Tools that write with another model at its own price, so the cost is unbounded. */
const OTHER_MODELS = ['advisor']
const NO_TOOLS: readonly ToolKind[] = []
const WITH_INPUT = { isInput: true }

export function listOtherPrices(body: JsonObject): readonly OtherPrice[] {
  let others = NO_OTHERS
  for (const { name, usual, chooses } of PRICING_MEMBERS) {
    const requested = readText(body, name)
    if (requested !== undefined && !usual.has(requested)) others = [...others, chooses]
  }
  return asksForMedia(body) ? [...others, 'media'] : others
}

const NO_OTHERS: readonly OtherPrice[] = []

/** The member by which a request chooses a price above the list price. */
export function findSurcharge(body: JsonObject): string | undefined {
  for (const { name, usual } of PRICING_MEMBERS) {
    const requested = readText(body, name)
    if (requested !== undefined && !usual.has(requested) && !CHEAPER.has(requested)) return name
  }
  if (asksForMedia(body)) return MODALITIES
  return findTools(body, OTHER_MODELS).length > 0 ? TOOLS : undefined
}

/**
 * The tools that a request offers to the provider, which may leave some unused. The tools are
 * parsed only if a tool's name occurs in the body.
 */
export function listHostedTools(body: JsonObject, dialect: Dialect): readonly ToolKind[] {
  const isCounted = isRelayed(dialect) && dialect.readToolUses !== undefined
  const types = findTools(body, HOSTED_TOOLS, isCounted ? WITH_INPUT : undefined)
  const isMember = HOSTED_MEMBERS.some((name) => isOffered(body, name))
  return types.length === 0 && !isMember ? NO_TOOLS : toOfferedTools(types, { isCounted, isMember })
}

function toOfferedTools(
  types: readonly string[],
  { isCounted, isMember }: { readonly isCounted: boolean; readonly isMember: boolean },
): readonly ToolKind[] {
  const kinds = types.map((type) => (isCounted ? kindOfTool(type) : undefined) ?? 'otherTool')
  return [...new Set<ToolKind>(isMember ? [...kinds, 'otherTool'] : kinds)]
}

/**
 * Assumes one use of each tool, for an answer that was too large to buffer, or abandoned.
 * @param reported the provider's report, which counts web searches and omits other tools
 */
export function atLeastOneEach(tools: readonly ToolKind[], reported?: ToolUses): ToolUses {
  const unseen = tools.filter(
    (tool): tool is CountedTool =>
      tool !== 'otherTool' && !(tool === 'webSearch' && reported !== undefined),
  )
  if (unseen.length === 0) return reported ?? NO_USES
  return { ...Object.fromEntries(unseen.map((kind) => [kind, 1])), ...reported }
}

/**
 * An empty object asks for a search with the provider's defaults; an empty list asks for nothing.
 */
function isOffered(body: JsonObject, name: string): boolean {
  const member = body.get(name)
  if (member === undefined || body.type(member) === 'null') return false
  const { length, mode } = Object(body.value(member)) as Readonly<Record<string, unknown>>
  return length !== 0 && mode !== 'off'
}

const MODALITIES = 'modalities'

/** Speech and pictures cost several times as much per token as text. */
function asksForMedia(body: JsonObject): boolean {
  const member = body.get(MODALITIES)
  if (member === undefined || body.type(member) !== 'array') return false
  return (body.value(member) as readonly unknown[]).some((modality) => modality !== 'text')
}

function readText(body: JsonObject, name: string): unknown {
  const member = body.get(name)
  return member !== undefined && body.type(member) === 'string' ? body.value(member) : undefined
}
