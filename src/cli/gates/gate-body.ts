/** The body that the options of a gate's command ask for. */
import type { Schemas } from '../../contract/api.generated.ts'
import { GATE_DEFAULT_NAMES } from '../../core/gate.ts'
import { CliError } from '../cli-error.ts'
import { changesFuse, toFuse } from '../fuse-verbs.ts'
import { type GateBody, type GateFlags, NONE } from './gate-options.ts'

type Current = Partial<Schemas['Gate']>

function noneToNull<Value>(value: Value | typeof NONE | undefined): Value | null | undefined {
  return value === NONE ? null : value
}

function toTargets({ target, weights, when = [] }: GateFlags): GateBody['targets'] {
  if (weights !== undefined && weights.length !== (target?.length ?? 0))
    throw new CliError('usage', 'Give as many --weights as there are --target options.')
  const unknown = when.find(({ model }) => target?.includes(model) !== true)
  if (unknown !== undefined)
    throw new CliError('usage', `--when names ${unknown.model}: give it as --target too.`)
  return target?.map((model, index) => {
    const weight = weights?.[index]
    const condition = when.find((each) => each.model === model)?.when
    return {
      model,
      ...(weight === undefined ? {} : { weight }),
      ...(condition === undefined ? {} : { when: condition }),
    }
  })
}

/** Whether the flags change some of the defaults, or a part of the fuse, and keep the rest. */
export function needsCurrent(flags: GateFlags): boolean {
  const setsDefaults = GATE_DEFAULT_NAMES.some((name) => flags[name] !== undefined)
  return changesFuse(flags) || (flags.clearDefaults !== true && setsDefaults)
}

function toDefaults(flags: GateFlags, current: Current): GateBody['defaults'] {
  const given = GATE_DEFAULT_NAMES.filter((name) => flags[name] !== undefined).map((name) => [
    name,
    flags[name],
  ])
  if (given.length === 0 && flags.clearDefaults !== true) return undefined
  const kept = flags.clearDefaults === true ? {} : current.defaults
  return { ...kept, ...Object.fromEntries(given) }
}

/** As with targets, the given aliases replace all. */
function toAliases({ alias, unlistedAlias, clearAliases }: GateFlags): GateBody['aliases'] {
  if (alias === undefined && unlistedAlias === undefined && clearAliases !== true) return undefined
  return [...(alias ?? []), ...(unlistedAlias ?? []).map((name) => ({ name, isListed: false }))]
}

/**
 * A missing option is undefined, so that a PATCH changes nothing else.
 * @param current the current gate, when `needsCurrent`
 */
export function toGateBody(flags: GateFlags, current: Current = {}): GateBody {
  const { name, description, strategy, hedgeAfterMs, overrides, timeoutMs, maxRetries } = flags
  return {
    targets: toTargets(flags),
    displayName: name,
    description,
    strategy,
    hedgeAfterMs: noneToNull(hedgeAfterMs),
    overrides,
    defaults: toDefaults(flags, current),
    aliases: toAliases(flags),
    isCatchAll: flags.catchAll,
    facts: flags.fact || flags.clearFacts ? Object.fromEntries(flags.fact ?? []) : undefined,
    codexInstructions: noneToNull(flags.codexInstructions),
    usageHeaders: flags.usageHeaders,
    budgetHeaders: flags.budgetHeaders,
    fuse: toFuse(flags, current.fuse),
    adapt: flags.adapt,
    ignoreStore: flags.ignoreStore,
    timeoutMs: noneToNull(timeoutMs),
    maxRetries,
  }
}
