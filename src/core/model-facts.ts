/** Facts of a model besides its price. */

/** In OpenRouter's spelling, which most clients read. */
export const MODALITIES = ['text', 'image', 'audio', 'video', 'file', 'embeddings'] as const
export type Modality = (typeof MODALITIES)[number]

/** Absent members are unknown. */
export interface ModelFacts {
  /** Input and output together. */
  readonly contextTokens?: number | undefined
  readonly maxOutputTokens?: number | undefined
  readonly inputModalities?: readonly Modality[] | undefined
  readonly outputModalities?: readonly Modality[] | undefined
  /** The provider's names of efforts, ascending. Empty: the model has no such setting. */
  readonly reasoningEfforts?: readonly string[] | undefined
}
