/**
 * Reads the kind of answer and the fault from a model's name. README.md has the table for users.
 */
import { findVendorModel, type ModelLimits } from './vendor-models.ts'

export type BaseModel = 'echo' | 'echo-reasoning' | 'echo-lenient' | 'codestral'

export const BASE_MODELS: readonly BaseModel[] = [
  'echo',
  'echo-reasoning',
  'echo-lenient',
  'codestral',
]

/** Named faults; a fault may also be any HTTP status from 400 to 599. */
export const NAMED_FAULTS = [
  'bad-json',
  'big',
  'clean-cut',
  'context-length',
  'cut-mid-stream',
  'drip',
  'empty',
  'error-mid-stream',
  'half-event',
  'hang',
  'hang-mid-stream',
  'html',
  'leaky-headers',
  'overloaded',
  'quota',
  'redirect',
  'slow',
  'slow-stream',
  'wrong-type',
] as const

export type FaultName = (typeof NAMED_FAULTS)[number] | 'status'

export interface Fault {
  readonly name: FaultName
  /** The number after the name (milliseconds, megabytes, seconds, events), or null. */
  readonly amount: number | null
  readonly status: number
}

export interface SandboxModel {
  readonly name: string
  readonly base: BaseModel
  readonly fault: Fault | null
  /** Undefined for the sandbox's own models. */
  readonly limits?: ModelLimits
}

function isBaseModel(name: string): name is BaseModel {
  return (BASE_MODELS as readonly string[]).includes(name)
}

/** `429`, `429-30`, `slow-2000`, `cut-mid-stream`. */
export function parseFault(text: string): Fault | null {
  const status = /^([45]\d\d)(?:-(\d{1,9}))?$/.exec(text)
  if (status) return { name: 'status', status: Number(status[1]), amount: amountOf(status[2]) }
  const named = /^([a-z]+(?:-[a-z]+)*)(?:-(\d{1,9}))?$/.exec(text)
  const name = NAMED_FAULTS.find((known) => known === named?.[1])
  return name === undefined ? null : { name, status: 200, amount: amountOf(named?.[2]) }
}

function amountOf(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits)
}

/**
 * `echo`, `gpt-5`, `slow-2000` (which echoes) or `echo-reasoning+cut-mid-stream`; null for an
 * unknown model.
 */
export function parseModel(asked: string): SandboxModel | null {
  const name = asked.replace(/^sandbox[/-]/, '')
  const [before = '', after] = name.split('+', 2)
  const found = findModel(before)
  if (after === undefined) {
    if (found !== null) return { name, ...found, fault: null }
    const fault = parseFault(name)
    return fault && { name, base: 'echo', fault }
  }
  const fault = parseFault(after)
  return fault && found && { name, ...found, fault }
}

function findModel(name: string): Pick<SandboxModel, 'base' | 'limits'> | null {
  if (isBaseModel(name)) return { base: name }
  const known = findVendorModel(name)
  return known === undefined ? null : { base: known.base, limits: known.limits }
}
