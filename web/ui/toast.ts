/**
 * Short messages at the edge of the screen. The library is fetched with the first of them: a page
 * that has nothing to say does not pay for it.
 */
import type { ToastKind, ToastOptions } from './toaster.tsx'

/** How long a message stays that can take back what was done. */
export const UNDO_MS = 12_000

export function toast(kind: ToastKind, message: string, options: ToastOptions = {}): void {
  void import('./toaster.tsx').then(({ showToast }) => showToast(kind, message, options))
}
