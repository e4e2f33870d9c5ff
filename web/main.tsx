/** Starts the dashboard in the browser. */
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ConnectionNotice } from './app/connection-notice.tsx'
import { queryClient } from './app/query-client.ts'
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
