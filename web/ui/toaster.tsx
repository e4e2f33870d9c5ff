/** The place of toasts; loaded with the first of them. */
import { createRoot } from 'react-dom/client'
import { toast as sonner, Toaster } from 'sonner'
import type { ToastOptions } from './toast.ts'

let isMounted = false

function mount(): void {
  if (isMounted) return
  isMounted = true
  const place = document.createElement('div')
  document.body.append(place)
  const theme = document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light'
  createRoot(place).render(<Toaster position="bottom-right" theme={theme} closeButton />)
}

export function showToast(
  kind: 'success' | 'error' | 'message',
  message: string,
  options: ToastOptions,
): void {
  mount()
  sonner[kind](message, {
    description: options.description,
    duration: options.durationMs,
    action: options.action && { label: options.action.label, onClick: options.action.run },
  })
}
