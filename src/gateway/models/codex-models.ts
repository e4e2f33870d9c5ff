/**
 * The list of models as Codex reads it (0.171.0): it asks `GET …/models?client_version=…` and
 * refuses the whole list when a member is missing or the answer is larger than 1 MiB.
 */
import { REASONING_EFFORTS } from '../../core/gate.ts'
import type { ModelDetails, ModelEntry } from './model-shapes.ts'

export const CODEX_QUERY = 'client_version'

/** Leaves room for `data`, and for the members besides the instructions. */
const MAX_INSTRUCTIONS_BYTES = 700_000

/** Tokens of a tool's output that Codex keeps, as for its own models. */
const KEPT_OUTPUT_TOKENS = 10_000

/**
 * Only gates with instructions are listed, because the instructions replace Codex's own prompt.
 * With an empty list Codex keeps its own models and those of `model_catalog_json`; without a list
 * Codex reports an error.
 */
export function toCodexModels(
  entries: readonly ModelEntry[],
  detailsOf: (entry: ModelEntry) => ModelDetails,
): { readonly models: readonly object[] } {
  let bytes = 0
  const models = entries.flatMap((entry, index) => {
    const { codexInstructions } = entry.gate
    if (codexInstructions === null) return []
    bytes += Buffer.byteLength(codexInstructions)
    if (bytes > MAX_INSTRUCTIONS_BYTES) return []
    return [toCodexModel(entry, detailsOf(entry), { instructions: codexInstructions, index })]
  })
  return { models }
}

function toCodexModel(
  { id, gate }: ModelEntry,
  details: ModelDetails,
  { instructions, index }: { readonly instructions: string; readonly index: number },
): object {
  const { contextTokens, inputModalities, reasoningEfforts = [] } = details.facts()
  const efforts = REASONING_EFFORTS.filter((effort) => reasoningEfforts.includes(effort))
  const effort = gate.defaults?.reasoningEffort
  return {
    slug: id,
    display_name: id === gate.id ? gate.displayName : id,
    description: gate.description === '' ? null : gate.description,
    base_instructions: instructions,
    supported_reasoning_levels: efforts.map((level) => ({ effort: level, description: level })),
    ...(effort !== undefined && efforts.includes(effort)
      ? { default_reasoning_level: effort }
      : {}),
    shell_type: 'unified_exec',
    visibility: 'list',
    supported_in_api: true,
    priority: index,
    support_verbosity: false,
    truncation_policy: { mode: 'tokens', limit: KEPT_OUTPUT_TOKENS },
    experimental_supported_tools: [],
    ...(contextTokens === undefined
      ? {}
      : { context_window: contextTokens, max_context_window: contextTokens }),
    ...(inputModalities === undefined
      ? {}
      : { input_modalities: inputModalities.filter((one) => one === 'text' || one === 'image') }),
  }
}
