/**
 * The errors of core/ for the dashboard, which may only import the contract (docs/decisions/0111).
 * Separate from words.ts, because fewer pages need the errors.
 */
// biome-ignore lint/performance/noBarrelFile: gives the dashboard access to core/errors.ts
export { ERROR_KINDS, ERROR_POLICY, type ErrorKind } from '../core/errors.ts'
