/**
 * Short messages at the edge of the screen. The library is fetched with the first of them: a page
 * that has nothing to say does not pay for it.
 */

/** How long a message stays that can take back what was done. */
export const UNDO_MS = 12_000

export interface ToastAction {
  readonly label: string
  readonly run: () => void
}

export interface ToastOptions {
  readonly description?: string
  readonly action?: ToastAction
  readonly durationMs?: number
}

type Kind = 'success' | 'error' | 'message'

export function toast(kind: Kind, message: string, options: ToastOptions = {}): void {
  void import('./toaster.tsx').then(({ showToast }) => showToast(kind, message, options))
}
