// Imported first: no other module may read the address while the address contains a link's secret.
import './features/sign-in/take-from-address.ts'

import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { LoaderCircle } from 'lucide-react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { useIsConnectionLost } from './app/connection.ts'
import { queryClient } from './app/query-client.ts'
import './app/first-parts.ts'
import { router } from './app/router.tsx'
import { followSystemTheme } from './app/theme.ts'

followSystemTheme()

const place = document.getElementById('root')
if (place === null) throw new Error('the page has no place for the dashboard')
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ConnectionNotice />
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)

function ConnectionNotice() {
  const isLost = useIsConnectionLost()
  return (
    <div
      role="status"
      // Set explicitly, so that the notice is announced even while a dialog hides everything else
      // from screen readers.
      aria-live="polite"
      aria-label="Connection"
      className="pointer-events-none fixed inset-x-0 top-3 z-[70] px-4"
    >
      {isLost && (
        <p className="mx-auto flex w-fit items-center gap-2.5 rounded-lg border border-warn bg-warn-soft px-4 py-2 text-[13px] text-warn shadow-high">
          <LoaderCircle aria-hidden className="size-4 shrink-0" />
          <span>
            <span className="font-medium">The gateway does not answer.</span> This page tries again
            without your help, and keeps your input.
          </span>
        </p>
      )}
    </div>
  )
}
