/**
 * The closed lists of core/ that the dashboard shows. The dashboard imports the contract
 * alone (docs/decisions/0111), so they pass through here. Loads no zod.
 */
// biome-ignore lint/performance/noBarrelFile: the dashboard's door to the lists of core/
export { FUNCTION_MEMBERS } from '../core/chat-words.ts'
export { GATE_DEFAULT_NAMES, REASONING_EFFORTS } from '../core/gate.ts'
export { MAX_LIMIT_USD } from '../core/money.ts'
export { CALL_OUTCOMES } from '../core/usage.ts'
