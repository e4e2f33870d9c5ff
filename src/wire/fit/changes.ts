import type { JsonRecord } from '../chat-request.ts'
import type { Feature } from '../codec.ts'

/** The changes to a request so far. */
export interface Changes {
  /** Parts that the model does not get. */
  readonly ignored: Set<Feature>
  /** Parts that were changed to equivalent parts. */
  readonly adapted: Set<Feature>
  /**
   * Schemas of tools whose calls have null for absent members, before the change; by the caller's
   * names of the tools.
   */
  readonly nullable: Map<string, JsonRecord>
  /** Whether the response format became a tool. */
  isFormatTool: boolean
}
