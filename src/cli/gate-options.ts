/** The options that say what a gate is, and the body that they make. */
import { type Command, Option } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { GATE_DEFAULT_NAMES, OVERRIDES, REASONING_EFFORTS, STRATEGIES } from '../core/gate.ts'
import { CliError } from './cli-error.ts'
import { parseDecimal, parseWhole } from './program-parts.ts'

type GateBody = Schemas['UpdateGate']
type Defaults = NonNullable<GateBody['defaults']>
type Current = Partial<Schemas['Gate']>

export interface GateFlags {
  readonly target?: readonly string[]
  readonly name?: string
  readonly description?: string
  readonly timeoutMs?: number | null
  readonly maxRetries?: number
  readonly strategy?: GateBody['strategy']
  readonly weights?: readonly number[]
  readonly hedgeAfterMs?: number | null
  readonly overrides?: GateBody['overrides']
  readonly instructions?: string
  readonly temperature?: number
  readonly topP?: number
  readonly maxOutputTokens?: number
  readonly reasoningEffort?: Defaults['reasoningEffort']
  readonly clearDefaults?: boolean
}

export function withGateOptions(command: Command): Command {
  return command
    .option(
      '--target <provider/model>',
      'a target; again for each further one, in their order',
      collect,
    )
    .option('--name <text>', 'display name')
    .option('--description <text>', 'what it is for')
    .option(
      '--timeout-ms <ms>',
      "longest call, in milliseconds, or 'none' for the server's limit",
      parseTimeout,
    )
    .addOption(new Option('--strategy <name>', 'which target is asked first').choices(STRATEGIES))
    .option(
      '--weights <n,n,…>',
      'shares of the targets under weighted, in their order',
      parseWeights,
    )
    .option(
      '--hedge-after-ms <ms>',
      "ask the next target as well when the first byte is this late, or 'none'",
      parseTimeout,
    )
    .option('--instructions <text>', "put before the caller's own instructions")
    .option('--temperature <n>', 'default, 0 to 2', (text) =>
      parseDecimal(text, { min: 0, max: 2 }),
    )
    .option('--top-p <n>', 'default, 0 to 1', (text) => parseDecimal(text, { min: 0, max: 1 }))
    .option('--max-output-tokens <n>', 'default', (text) =>
      parseWhole(text, { min: 1, max: MAX_LIMIT }),
    )
    .addOption(new Option('--reasoning-effort <word>', 'default').choices(REASONING_EFFORTS))
    .addOption(
      new Option('--overrides <how>', 'when a request says otherwise than the gate').choices(
        OVERRIDES,
      ),
    )
    .option('--max-retries <n>', 'times a target is tried again, 0 to 5', (text) =>
      parseWhole(text, { min: 0, max: 5 }),
    )
}

const MAX_LIMIT = Number.MAX_SAFE_INTEGER

function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value]
}

function parseTimeout(text: string): number | null {
  return text === 'none' ? null : parseWhole(text, { min: 1, max: 3_600_000 })
}

function parseWeights(text: string): readonly number[] {
  return text.split(',').map((weight) => parseWhole(weight.trim(), { min: 0, max: 1000 }))
}

function toTarget(model: string, weight: number | undefined): { model: string; weight?: number } {
  return weight === undefined ? { model } : { model, weight }
}

/** True where it sets some and leaves the others as they are. */
export function setsSomeDefaults(flags: GateFlags): boolean {
  return (
    flags.clearDefaults !== true && GATE_DEFAULT_NAMES.some((name) => flags[name] !== undefined)
  )
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

/**
 * An option that was not given is undefined, so that a PATCH changes nothing else.
 * @param current the gate as it is, where some of its defaults change
 */
export function toGateBody(flags: GateFlags, current: Current = {}): GateBody {
  const {
    target,
    weights,
    name,
    description,
    strategy,
    hedgeAfterMs,
    overrides,
    timeoutMs,
    maxRetries,
  } = flags
  if (weights !== undefined && weights.length !== (target?.length ?? 0))
    throw new CliError('usage', 'Give as many --weights as there are --target options.')
  return {
    targets: target?.map((model, index) => toTarget(model, weights?.[index])),
    displayName: name,
    description,
    strategy,
    hedgeAfterMs,
    overrides,
    defaults: toDefaults(flags, current),
    timeoutMs,
    maxRetries,
  }
}
