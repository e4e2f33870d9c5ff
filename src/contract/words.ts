/**
 * The closed lists of core/ that the dashboard shows, re-exported because the dashboard may only
 * import the contract (docs/decisions/0111). Loads no zod.
 */
// biome-ignore lint/performance/noBarrelFile: gives the dashboard access to the lists of core/
export { HASHED_KINDS, PEOPLE_FIGURES } from '../core/attribution.ts'
export { FUNCTION_MEMBERS } from '../core/chat-words.ts'
export { GATE_DEFAULT_NAMES, REASONING_EFFORTS } from '../core/gate.ts'
export { MAX_LIMIT_USD } from '../core/money.ts'
export { CALL_OUTCOMES } from '../core/usage.ts'
