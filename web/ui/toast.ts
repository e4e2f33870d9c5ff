/** Short messages at the edge of the screen. The library is loaded with the first message. */
import type { ToastKind, ToastOptions } from './toaster.tsx'

/** How long a message with an undo button stays. */
export const UNDO_MS = 12_000

export function toast(kind: ToastKind, message: string, options: ToastOptions = {}): void {
  void import('./toaster.tsx').then(({ showToast }) => showToast(kind, message, options))
}
