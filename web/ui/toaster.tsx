import { createRoot, type Root } from 'react-dom/client'
import { toast as sonner, Toaster } from 'sonner'
import { Sentence } from './sentence.tsx'

interface ToastAction {
  readonly label: string
  readonly run: () => void
}

export interface ToastOptions {
  readonly description?: string
  readonly action?: ToastAction
  readonly durationMs?: number
}

let root: Root | undefined

function mount(): void {
  root ??= createRoot(document.body.appendChild(document.createElement('div')))
  // Read each time, because the reader may have changed the theme.
  const theme = document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light'
  root.render(<Toaster position="bottom-right" theme={theme} closeButton />)
}

export type ToastKind = 'success' | 'error' | 'message'

export function showToast(kind: ToastKind, message: string, options: ToastOptions): void {
  mount()
  sonner[kind](<Sentence text={message} />, {
    description: options.description,
    duration: options.durationMs,
    action: options.action && { label: options.action.label, onClick: options.action.run },
  })
}
