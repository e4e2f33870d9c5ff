import type { Settings } from '../config/settings.ts'
import { type Listener, listen } from '../net/listen.ts'
import { type HttpRequest, toRequest } from '../net/messages.ts'
import { type Log, logBroken } from '../telemetry/log.ts'

const SETTINGS = { port: 'GATEHOUSE_METRICS_PORT', host: 'GATEHOUSE_METRICS_HOST' }

export function listenForMetrics(
  answer: ((request: Request) => Promise<Response>) | undefined,
  { telemetry }: Pick<Settings, 'telemetry'>,
  log: Pick<Log, 'info' | 'error'>,
): Listener | undefined {
  const { host, port } = telemetry.metrics ?? {}
  if (answer === undefined || host === undefined || port === undefined) return undefined
  const handle = (request: HttpRequest) => answer(toRequest(request))
  const listener = listen({ host, port, settings: SETTINGS }, handle, { onBroken: logBroken(log) })
  log.info({ url: `${listener.url}/metrics` }, 'metrics')
  return listener
}
