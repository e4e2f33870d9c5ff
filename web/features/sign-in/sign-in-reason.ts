const REASONS = ['ended', 'signed-out', 'left'] as const
export type SignInReason = (typeof REASONS)[number]

export function toSignInReason(text: unknown): SignInReason | undefined {
  return REASONS.find((reason) => reason === text)
}
