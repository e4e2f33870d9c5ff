/** The addresses and their formats, for SDKs that are not in the quick start. */
import { Card, CardHeader } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Table, Th } from '../../ui/table.tsx'

interface Endpoint {
  /** The base address that an SDK wants. */
  readonly base: string
  readonly paths: readonly string[]
  readonly speaks: string
}

const ENDPOINTS: readonly Endpoint[] = [
  {
    base: '/v1',
    paths: ['/responses', '/chat/completions', '/embeddings', '/models'],
    speaks: 'OpenAI: Responses, Chat Completions, embeddings, models',
  },
  { base: '', paths: ['/v1/messages', '/v1/messages/count_tokens'], speaks: 'Anthropic: Messages' },
  {
    base: '/alt',
    paths: ['/v1/fim/completions', '/v1/chat/completions'],
    speaks: 'Mistral: fill in the middle, chat',
  },
  { base: '', paths: ['/v3/chat'], speaks: 'Gatehouse’s own chat format, to any provider' },
]

export function EndpointsCard({ baseUrl }: { readonly baseUrl: string }) {
  return (
    <Card>
      <CardHeader
        title="Addresses"
        note="For any client that lets you set its base address. Authorization is a Bearer key everywhere."
      />
      <Table
        label="Addresses"
        head={
          <>
            <Th>Base address</Th>
            <Th>Paths</Th>
            <Th>Speaks</Th>
          </>
        }
      >
        {ENDPOINTS.map(({ base, paths, speaks }) => (
          <tr key={speaks}>
            <td className="whitespace-nowrap">
              <span className="flex items-center gap-1">
                <code className="font-mono text-[13px] text-ink">{baseUrl + base}</code>
                <CopyButton text={baseUrl + base} label={`Copy the base address for ${speaks}`} />
              </span>
            </td>
            <td>
              {paths.map((path) => (
                <code
                  key={path}
                  className="block font-mono text-[13px] whitespace-nowrap text-ink-soft"
                >
                  {path}
                </code>
              ))}
            </td>
            <td className="min-w-48 text-ink-soft">{speaks}</td>
          </tr>
        ))}
      </Table>
    </Card>
  )
}
