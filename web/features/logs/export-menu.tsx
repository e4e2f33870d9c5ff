/**
 * Downloads of what is filtered, as plain links: the browser sends the session's cookie and writes
 * the file as it comes.
 */
import { ChevronDown, Download } from 'lucide-react'
import { toApiRequest } from '../../../src/contract/api-call.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, MenuLink } from '../../ui/menu.tsx'
import type { LogQuery } from './log-filter.ts'

const FORMATS = [
  ['csv', 'CSV', 'for spreadsheets'],
  ['ndjson', 'NDJSON', 'a JSON object a line'],
] as const

export function ExportMenu({ query }: { readonly query: LogQuery }) {
  return (
    <Menu
      trigger={
        <Button size="small" className="h-8">
          <Download aria-hidden className="size-3.5" />
          Export
          <ChevronDown aria-hidden className="size-3.5 text-ink-faint" />
        </Button>
      }
    >
      {FORMATS.map(([format, name, note]) => (
        <MenuLink
          key={format}
          href={toApiRequest('GET /v1/logs/export', { query: { ...query, format } }).path}
          download={`gatehouse-logs.${format}`}
        >
          {name}
          <span className="text-ink-faint">{note}</span>
        </MenuLink>
      ))}
    </Menu>
  )
}
