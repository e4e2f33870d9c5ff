/** For addresses that lead nowhere. */
import { LinkButton } from '../ui/button.tsx'
import { useDocumentTitle } from '../ui/page.tsx'

export function NotFound() {
  useDocumentTitle('Not found')
  return (
    <main className="flex min-h-[60dvh] flex-col items-center justify-center gap-3 px-6 text-center">
      <p className="font-mono text-sm text-ink-faint">404</p>
      <h1 className="text-lg font-semibold text-ink">There is no page here</h1>
      <p className="max-w-sm text-sm text-ink-soft">It may have been renamed or deleted.</p>
      <LinkButton to="/" className="mt-2">
        To the overview
      </LinkButton>
    </main>
  )
}
